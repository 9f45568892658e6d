// Included by vllm-ascend's binding, which uses nothing of it.
#pragma once
