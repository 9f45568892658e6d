// Marks a function that is worth a second copy for wider vector units. Portable C++ either way: where the
// compiler has no such attribute the plain copy remains.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
// The level, not the name of a processor: a name matches one maker's processors only.
#define EMUCANN_VECTORIZE __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define EMUCANN_VECTORIZE
#endif
