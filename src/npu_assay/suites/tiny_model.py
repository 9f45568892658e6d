"""Make a tiny random-weight Qwen2 with its own tokenizer from a seed: no download, always the same bytes.

    python tiny_model.py FOLDER [--seed N]

Its shape follows a small Qwen2 in everything that the KV cache sees: grouped-query attention (4 heads, 2 KV
heads), several layers, rotary positions. The weights are wide enough that every token of the context shows
in the next one, so that a wrong KV cache changes the output.
"""

import argparse
import random
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GenerationConfig, PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

DEFAULT_SEED = 0
VOCABULARY = 2000
END_OF_TEXT = "<|endoftext|>"
WEIGHT_DEVIATION = 0.15


def text(seed: int, words: int) -> str:
    """Return sentences of made-up words; the same seed gives the same text."""
    random_ = random.Random(seed)
    syllables = [c + v for c in "bcdfghjklmnprstvwz" for v in "aeiou"]
    lexicon = ["".join(random_.choices(syllables, k=random_.randint(1, 4))) for _ in range(3000)]
    return " ".join(
        random_.choice(lexicon) + random_.choices(["", ",", "."], [10, 1, 1])[0] for _ in range(words)
    )


def make_tokenizer(seed: int) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE tokenizer on text made from the seed."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[END_OF_TEXT],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator([text(seed, 20_000)], trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END_OF_TEXT, pad_token=END_OF_TEXT)


def make_model(seed: int, vocabulary: int) -> Qwen2ForCausalLM:
    """Make the model, in float32, with weights drawn from the seed."""
    config = Qwen2Config(
        vocab_size=vocabulary,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=2048,
        tie_word_embeddings=False,
        bos_token_id=0,
        eos_token_id=0,
        dtype="float32",
    )
    model = Qwen2ForCausalLM(config)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            if "norm" in name:
                weight.fill_(1.0)
            else:
                weight.normal_(std=WEIGHT_DEVIATION, generator=generator)
    model.generation_config = GenerationConfig(bos_token_id=0, eos_token_id=0)
    return model


def make(folder: Path, seed: int = DEFAULT_SEED) -> Path:
    """Write configuration, tokenizer and weights into the folder, and return it."""
    tokenizer = make_tokenizer(seed)
    tokenizer.save_pretrained(folder)
    make_model(seed, len(tokenizer)).save_pretrained(folder)
    return folder


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    options = parser.parse_args()
    print(make(options.folder, options.seed))


if __name__ == "__main__":
    main()
