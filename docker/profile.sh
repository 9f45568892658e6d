# Sourced by login shells, whose /etc/profile has set PATH anew: gives back that of the image's environment.
# shellcheck shell=sh
[ -z "${NPU_ASSAY_PATH-}" ] || export PATH="$NPU_ASSAY_PATH"
