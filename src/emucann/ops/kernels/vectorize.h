// Marks a function that is worth a second copy for wider vector units. Portable C++ either way: where the
// compiler has no such attribute the plain copy remains.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define EMUCANN_VECTORIZE __attribute__((target_clones("default", "arch=haswell")))
#else
#define EMUCANN_VECTORIZE
#endif
