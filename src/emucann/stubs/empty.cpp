// A library that is there by name.
