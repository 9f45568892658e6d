"""Stands where a source distribution's build backend is looked for; see the folder above."""
