# Every image: an environment, where its CANN comes from, an architecture. Written by ci/bake from ci/environments; edit
# those, or src/npu_assay/docker/. Variables are the shell's: IMAGE=dev docker buildx bake -f docker/docker-bake.hcl TARGET

# The first part of every image's name.
variable "NAME" { default = "npu-assay" }
# runtime, or dev: with ccache and GoogleTest.
variable "IMAGE" { default = "runtime" }
# The commit of npu-assay, for the label and for what the image says of itself.
variable "REVISION" { default = "" }
# What images without the vendor's are made from; give it with its digest: debian:bookworm-slim@sha256:...
# Where there is no network, one of the targets machine-*.
variable "BASE" { default = "debian:bookworm-slim" }
# The vendor's images, or a mirror of them, and the digest of the one that you trust (sha256:...): they are published
# without, and a build that is given none stops, unless the lock has one.
variable "CANN_REPOSITORY" { default = "quay.io/ascend/cann" }
variable "CANN_DIGEST" { default = "" }
# Without a digest it is a stage of the Dockerfile, which says what is missing.
function "vendor_image" {
  params = [tag, digest]
  result = can(regex("^sha256:[0-9a-f]{64}$", digest)) ? "${CANN_REPOSITORY}:${tag}@${digest}" : "no-vendor-image"
}
# A folder with the vendor's packages; without one they are downloaded. ACCEPT_LICENCE=yes accepts the vendor's licence.
variable "RUN_PACKAGES" { default = "" }
variable "ACCEPT_LICENCE" { default = "" }
# The chip, where vllm-ascend is compiled.
variable "SOC_VERSION" { default = "ascend910b1" }
# The image's own vllm-ascend: a folder, or git+URL@REF; and a folder with patches for it, or for the lock's own.
variable "VLLM_ASCEND" { default = "" }
variable "PATCHES" { default = "" }
# So that no such image takes the place of one with the lock's own.
variable "OWN" { default = VLLM_ASCEND == "" && PATCHES == "" ? "" : "-own" }
# A folder that `npu-assay env fetch` filled: no index is asked for packages.
variable "FETCHED" { default = "" }
# pip's index where that is not its own, a file of pip's configuration, one of apt's sources, and one of certificates: all
# files are secrets.
variable "PIP_INDEX_URL" { default = "" }
variable "PIP_EXTRA_INDEX_URL" { default = "" }
variable "PIP_CONF" { default = "" }
variable "APT_SOURCES" { default = "" }
variable "CA_CERTIFICATES" { default = "" }

target "_common" {
  dockerfile = "docker/Dockerfile"
  target     = "image"
  secret = concat(
    PIP_CONF == "" ? [] : ["id=pip-conf,src=${PIP_CONF}"],
    APT_SOURCES == "" ? [] : ["id=apt-sources,src=${APT_SOURCES}"],
    CA_CERTIFICATES == "" ? [] : ["id=ca-certificates,src=${CA_CERTIFICATES}"],
  )
  contexts = merge(
    FETCHED == "" ? {} : { fetched = FETCHED },
    RUN_PACKAGES == "" ? {} : { run-packages = RUN_PACKAGES },
    VLLM_ASCEND == "" || substr(VLLM_ASCEND, 0, 4) == "git+" ? {} : { own-vllm-ascend = VLLM_ASCEND },
    PATCHES == "" ? {} : { patches = PATCHES },
  )
  args = {
    IMAGE               = IMAGE
    REVISION            = REVISION
    FETCHED             = FETCHED == "" ? "" : "yes"
    VLLM_ASCEND         = VLLM_ASCEND == "" || substr(VLLM_ASCEND, 0, 4) == "git+" ? VLLM_ASCEND : "folder"
    PATCHES             = PATCHES == "" ? "" : "yes"
    PIP_INDEX_URL       = PIP_INDEX_URL == "" ? null : PIP_INDEX_URL
    PIP_EXTRA_INDEX_URL = PIP_EXTRA_INDEX_URL == "" ? null : PIP_EXTRA_INDEX_URL
    PIP_CERT            = CA_CERTIFICATES == "" ? null : "/run/secrets/ca-certificates"
    SSL_CERT_FILE       = CA_CERTIFICATES == "" ? null : "/run/secrets/ca-certificates"
    GIT_SSL_CAINFO      = CA_CERTIFICATES == "" ? null : "/run/secrets/ca-certificates"
  }
  labels = {
    "org.opencontainers.image.licenses" = "Apache-2.0"
    "org.opencontainers.image.revision" = REVISION
    "npu-assay.vllm-ascend"             = OWN == "" ? "the lock's" : "the image's own"
  }
}

# Debian's packages alone (with IMAGE=dev, its too): the BASE of builds where there is no network.
target "_machine" {
  inherits = ["_common"]
  target   = "machine-${IMAGE}"
  args     = { BASE = BASE }
}

target "machine-x86_64" {
  inherits  = ["_machine"]
  platforms = ["linux/amd64"]
  tags      = ["${NAME}:machine-x86_64${IMAGE == "runtime" ? "" : "-${IMAGE}"}"]
}

target "machine-aarch64" {
  inherits  = ["_machine"]
  platforms = ["linux/arm64"]
  tags      = ["${NAME}:machine-aarch64${IMAGE == "runtime" ? "" : "-${IMAGE}"}"]
}

group "default" {
  targets = [
    "cann900-vllm018-emulated-x86_64",
  ]
}

group "emulated" {
  targets = [
    "cann900-vllm018-emulated-x86_64",
    "cann900-vllm018-emulated-aarch64",
    "cann900-vllm018-torch210-emulated-x86_64",
    "cann900-vllm018-torch210-emulated-aarch64",
    "cann900-vllm0221-emulated-x86_64",
    "cann900-vllm0221-emulated-aarch64",
  ]
}

# Before it can be built: triton-ascend: its sha256 for x86_64 is unverified; record the file that you trust: npu-assay env lock cann851-vllm018 --record FILE
# Before it can be built: the vendor's image 8.5.1-910b-ubuntu22.04-py3.11: no recorded digest; give one as CANN_DIGEST
target "cann851-vllm018-image-x86_64" {
  inherits  = ["_common"]
  platforms = ["linux/amd64"]
  tags      = ["${NAME}:cann851-vllm018-image-x86_64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK        = "cann851-vllm018"
    CANN        = "image"
    DEVICE      = "npu"
    CHIP        = "910b"
    CANN_DIGEST = CANN_DIGEST
    CANN_IMAGE  = vendor_image("8.5.1-910b-ubuntu22.04-py3.11", CANN_DIGEST)
    SOC_VERSION = SOC_VERSION
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann851-vllm018-image-x86_64"
    "org.opencontainers.image.description" = "vLLM 0.18.0, torch-npu 2.9.0, CANN 8.5.1 (hardware only)"
    "npu-assay.lock"                       = "cann851-vllm018"
    "npu-assay.lock.sha256"                = "656a3fca0ea164831e8c4398803cf91f36163184137e7946cb63714b032c7e3c"
    "npu-assay.device"                     = "npu"
    "npu-assay.cann"                       = "8.5.1 V100R001C25SPC002B220"
    "npu-assay.commit.vllm"                = "bcf2be96120005e9aea171927f85055a6a5c0cf6"
    "npu-assay.commit.vllm-ascend"         = "72dc68973bd7e6ceef9a122de316a7ee9c9a84aa"
  }
}

# Before it can be built: triton-ascend: its sha256 for aarch64 is unverified; record the file that you trust: npu-assay env lock cann851-vllm018 --record FILE
# Before it can be built: the vendor's image 8.5.1-910b-ubuntu22.04-py3.11: no recorded digest; give one as CANN_DIGEST
target "cann851-vllm018-image-aarch64" {
  inherits  = ["_common"]
  platforms = ["linux/arm64"]
  tags      = ["${NAME}:cann851-vllm018-image-aarch64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK        = "cann851-vllm018"
    CANN        = "image"
    DEVICE      = "npu"
    CHIP        = "910b"
    CANN_DIGEST = CANN_DIGEST
    CANN_IMAGE  = vendor_image("8.5.1-910b-ubuntu22.04-py3.11", CANN_DIGEST)
    SOC_VERSION = SOC_VERSION
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann851-vllm018-image-aarch64"
    "org.opencontainers.image.description" = "vLLM 0.18.0, torch-npu 2.9.0, CANN 8.5.1 (hardware only)"
    "npu-assay.lock"                       = "cann851-vllm018"
    "npu-assay.lock.sha256"                = "656a3fca0ea164831e8c4398803cf91f36163184137e7946cb63714b032c7e3c"
    "npu-assay.device"                     = "npu"
    "npu-assay.cann"                       = "8.5.1 V100R001C25SPC002B220"
    "npu-assay.commit.vllm"                = "bcf2be96120005e9aea171927f85055a6a5c0cf6"
    "npu-assay.commit.vllm-ascend"         = "72dc68973bd7e6ceef9a122de316a7ee9c9a84aa"
  }
}

# Before it can be built: triton-ascend: its sha256 for x86_64 is unverified; record the file that you trust: npu-assay env lock cann851-vllm018 --record FILE
# Before it can be built: Ascend-cann-toolkit_8.5.1_linux-x86_64.run: no recorded sha256
# Before it can be built: Ascend-cann-910b-ops_8.5.1_linux-x86_64.run: no recorded sha256
# Before it can be built: Ascend-cann-nnal_8.5.1_linux-x86_64.run: no recorded sha256
target "cann851-vllm018-run-packages-x86_64" {
  inherits  = ["_common"]
  platforms = ["linux/amd64"]
  tags      = ["${NAME}:cann851-vllm018-run-packages-x86_64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK           = "cann851-vllm018"
    CANN           = "run-packages"
    DEVICE         = "npu"
    CHIP           = "910b"
    BASE           = BASE
    ACCEPT_LICENCE = ACCEPT_LICENCE
    SOC_VERSION    = SOC_VERSION
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann851-vllm018-run-packages-x86_64"
    "org.opencontainers.image.description" = "vLLM 0.18.0, torch-npu 2.9.0, CANN 8.5.1 (hardware only)"
    "npu-assay.lock"                       = "cann851-vllm018"
    "npu-assay.lock.sha256"                = "656a3fca0ea164831e8c4398803cf91f36163184137e7946cb63714b032c7e3c"
    "npu-assay.device"                     = "npu"
    "npu-assay.cann"                       = "8.5.1 V100R001C25SPC002B220"
    "npu-assay.commit.vllm"                = "bcf2be96120005e9aea171927f85055a6a5c0cf6"
    "npu-assay.commit.vllm-ascend"         = "72dc68973bd7e6ceef9a122de316a7ee9c9a84aa"
  }
}

# Before it can be built: triton-ascend: its sha256 for aarch64 is unverified; record the file that you trust: npu-assay env lock cann851-vllm018 --record FILE
# Before it can be built: Ascend-cann-toolkit_8.5.1_linux-aarch64.run: no recorded sha256
# Before it can be built: Ascend-cann-910b-ops_8.5.1_linux-aarch64.run: no recorded sha256
# Before it can be built: Ascend-cann-nnal_8.5.1_linux-aarch64.run: no recorded sha256
target "cann851-vllm018-run-packages-aarch64" {
  inherits  = ["_common"]
  platforms = ["linux/arm64"]
  tags      = ["${NAME}:cann851-vllm018-run-packages-aarch64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK           = "cann851-vllm018"
    CANN           = "run-packages"
    DEVICE         = "npu"
    CHIP           = "910b"
    BASE           = BASE
    ACCEPT_LICENCE = ACCEPT_LICENCE
    SOC_VERSION    = SOC_VERSION
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann851-vllm018-run-packages-aarch64"
    "org.opencontainers.image.description" = "vLLM 0.18.0, torch-npu 2.9.0, CANN 8.5.1 (hardware only)"
    "npu-assay.lock"                       = "cann851-vllm018"
    "npu-assay.lock.sha256"                = "656a3fca0ea164831e8c4398803cf91f36163184137e7946cb63714b032c7e3c"
    "npu-assay.device"                     = "npu"
    "npu-assay.cann"                       = "8.5.1 V100R001C25SPC002B220"
    "npu-assay.commit.vllm"                = "bcf2be96120005e9aea171927f85055a6a5c0cf6"
    "npu-assay.commit.vllm-ascend"         = "72dc68973bd7e6ceef9a122de316a7ee9c9a84aa"
  }
}

target "cann900-vllm018-emulated-x86_64" {
  inherits  = ["_common"]
  platforms = ["linux/amd64"]
  tags      = ["${NAME}:cann900-vllm018-emulated-x86_64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK   = "cann900-vllm018"
    CANN   = "emulated"
    DEVICE = "emulated"
    BASE   = BASE
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann900-vllm018-emulated-x86_64"
    "org.opencontainers.image.description" = "vLLM 0.18.0, torch-npu 2.9.0.post2, CANN 9.0.0; the CANN in here is emulated"
    "npu-assay.lock"                       = "cann900-vllm018"
    "npu-assay.lock.sha256"                = "18bab904f455f510b0ad93a837753d681c22a343d8fc10b9b5351d02580cca8a"
    "npu-assay.device"                     = "emulated"
    "npu-assay.cann"                       = "9.0.0 EMULATED"
    "npu-assay.commit.vllm"                = "bcf2be96120005e9aea171927f85055a6a5c0cf6"
    "npu-assay.commit.vllm-ascend"         = "e18643f8a4d5bd9990727654318ad069ea0b56e2"
  }
}

target "cann900-vllm018-emulated-aarch64" {
  inherits  = ["_common"]
  platforms = ["linux/arm64"]
  tags      = ["${NAME}:cann900-vllm018-emulated-aarch64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK   = "cann900-vllm018"
    CANN   = "emulated"
    DEVICE = "emulated"
    BASE   = BASE
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann900-vllm018-emulated-aarch64"
    "org.opencontainers.image.description" = "vLLM 0.18.0, torch-npu 2.9.0.post2, CANN 9.0.0; the CANN in here is emulated"
    "npu-assay.lock"                       = "cann900-vllm018"
    "npu-assay.lock.sha256"                = "18bab904f455f510b0ad93a837753d681c22a343d8fc10b9b5351d02580cca8a"
    "npu-assay.device"                     = "emulated"
    "npu-assay.cann"                       = "9.0.0 EMULATED"
    "npu-assay.commit.vllm"                = "bcf2be96120005e9aea171927f85055a6a5c0cf6"
    "npu-assay.commit.vllm-ascend"         = "e18643f8a4d5bd9990727654318ad069ea0b56e2"
  }
}

# Before it can be built: the vendor's image 9.0.0-910b-ubuntu22.04-py3.11: no recorded digest; give one as CANN_DIGEST
target "cann900-vllm018-image-x86_64" {
  inherits  = ["_common"]
  platforms = ["linux/amd64"]
  tags      = ["${NAME}:cann900-vllm018-image-x86_64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK        = "cann900-vllm018"
    CANN        = "image"
    DEVICE      = "npu"
    CHIP        = "910b"
    CANN_DIGEST = CANN_DIGEST
    CANN_IMAGE  = vendor_image("9.0.0-910b-ubuntu22.04-py3.11", CANN_DIGEST)
    SOC_VERSION = SOC_VERSION
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann900-vllm018-image-x86_64"
    "org.opencontainers.image.description" = "vLLM 0.18.0, torch-npu 2.9.0.post2, CANN 9.0.0"
    "npu-assay.lock"                       = "cann900-vllm018"
    "npu-assay.lock.sha256"                = "18bab904f455f510b0ad93a837753d681c22a343d8fc10b9b5351d02580cca8a"
    "npu-assay.device"                     = "npu"
    "npu-assay.cann"                       = "9.0.0 V100R001C10SPC001B250"
    "npu-assay.commit.vllm"                = "bcf2be96120005e9aea171927f85055a6a5c0cf6"
    "npu-assay.commit.vllm-ascend"         = "e18643f8a4d5bd9990727654318ad069ea0b56e2"
  }
}

# Before it can be built: triton-ascend: its sha256 for aarch64 is unverified; record the file that you trust: npu-assay env lock cann900-vllm018 --record FILE
# Before it can be built: the vendor's image 9.0.0-910b-ubuntu22.04-py3.11: no recorded digest; give one as CANN_DIGEST
target "cann900-vllm018-image-aarch64" {
  inherits  = ["_common"]
  platforms = ["linux/arm64"]
  tags      = ["${NAME}:cann900-vllm018-image-aarch64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK        = "cann900-vllm018"
    CANN        = "image"
    DEVICE      = "npu"
    CHIP        = "910b"
    CANN_DIGEST = CANN_DIGEST
    CANN_IMAGE  = vendor_image("9.0.0-910b-ubuntu22.04-py3.11", CANN_DIGEST)
    SOC_VERSION = SOC_VERSION
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann900-vllm018-image-aarch64"
    "org.opencontainers.image.description" = "vLLM 0.18.0, torch-npu 2.9.0.post2, CANN 9.0.0"
    "npu-assay.lock"                       = "cann900-vllm018"
    "npu-assay.lock.sha256"                = "18bab904f455f510b0ad93a837753d681c22a343d8fc10b9b5351d02580cca8a"
    "npu-assay.device"                     = "npu"
    "npu-assay.cann"                       = "9.0.0 V100R001C10SPC001B250"
    "npu-assay.commit.vllm"                = "bcf2be96120005e9aea171927f85055a6a5c0cf6"
    "npu-assay.commit.vllm-ascend"         = "e18643f8a4d5bd9990727654318ad069ea0b56e2"
  }
}

# Before it can be built: Ascend-cann-toolkit_9.0.0_linux-x86_64.run: no recorded sha256
# Before it can be built: Ascend-cann-910b-ops_9.0.0_linux-x86_64.run: no recorded sha256
# Before it can be built: Ascend-cann-nnal_9.0.0_linux-x86_64.run: no recorded sha256
target "cann900-vllm018-run-packages-x86_64" {
  inherits  = ["_common"]
  platforms = ["linux/amd64"]
  tags      = ["${NAME}:cann900-vllm018-run-packages-x86_64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK           = "cann900-vllm018"
    CANN           = "run-packages"
    DEVICE         = "npu"
    CHIP           = "910b"
    BASE           = BASE
    ACCEPT_LICENCE = ACCEPT_LICENCE
    SOC_VERSION    = SOC_VERSION
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann900-vllm018-run-packages-x86_64"
    "org.opencontainers.image.description" = "vLLM 0.18.0, torch-npu 2.9.0.post2, CANN 9.0.0"
    "npu-assay.lock"                       = "cann900-vllm018"
    "npu-assay.lock.sha256"                = "18bab904f455f510b0ad93a837753d681c22a343d8fc10b9b5351d02580cca8a"
    "npu-assay.device"                     = "npu"
    "npu-assay.cann"                       = "9.0.0 V100R001C10SPC001B250"
    "npu-assay.commit.vllm"                = "bcf2be96120005e9aea171927f85055a6a5c0cf6"
    "npu-assay.commit.vllm-ascend"         = "e18643f8a4d5bd9990727654318ad069ea0b56e2"
  }
}

# Before it can be built: triton-ascend: its sha256 for aarch64 is unverified; record the file that you trust: npu-assay env lock cann900-vllm018 --record FILE
# Before it can be built: Ascend-cann-toolkit_9.0.0_linux-aarch64.run: no recorded sha256
# Before it can be built: Ascend-cann-910b-ops_9.0.0_linux-aarch64.run: no recorded sha256
# Before it can be built: Ascend-cann-nnal_9.0.0_linux-aarch64.run: no recorded sha256
target "cann900-vllm018-run-packages-aarch64" {
  inherits  = ["_common"]
  platforms = ["linux/arm64"]
  tags      = ["${NAME}:cann900-vllm018-run-packages-aarch64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK           = "cann900-vllm018"
    CANN           = "run-packages"
    DEVICE         = "npu"
    CHIP           = "910b"
    BASE           = BASE
    ACCEPT_LICENCE = ACCEPT_LICENCE
    SOC_VERSION    = SOC_VERSION
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann900-vllm018-run-packages-aarch64"
    "org.opencontainers.image.description" = "vLLM 0.18.0, torch-npu 2.9.0.post2, CANN 9.0.0"
    "npu-assay.lock"                       = "cann900-vllm018"
    "npu-assay.lock.sha256"                = "18bab904f455f510b0ad93a837753d681c22a343d8fc10b9b5351d02580cca8a"
    "npu-assay.device"                     = "npu"
    "npu-assay.cann"                       = "9.0.0 V100R001C10SPC001B250"
    "npu-assay.commit.vllm"                = "bcf2be96120005e9aea171927f85055a6a5c0cf6"
    "npu-assay.commit.vllm-ascend"         = "e18643f8a4d5bd9990727654318ad069ea0b56e2"
  }
}

target "cann900-vllm018-torch210-emulated-x86_64" {
  inherits  = ["_common"]
  platforms = ["linux/amd64"]
  tags      = ["${NAME}:cann900-vllm018-torch210-emulated-x86_64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK   = "cann900-vllm018-torch210"
    CANN   = "emulated"
    DEVICE = "emulated"
    BASE   = BASE
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann900-vllm018-torch210-emulated-x86_64"
    "org.opencontainers.image.description" = "vLLM 0.18.0, torch-npu 2.10.0, LMCache 0.4.4, CANN 9.0.0; the CANN in here is emulated"
    "npu-assay.lock"                       = "cann900-vllm018-torch210"
    "npu-assay.lock.sha256"                = "796956a4e6a2b0ad4fc9a39e2acf82faf14ed29a3aab4bb2dc5a1d008f1f9030"
    "npu-assay.device"                     = "emulated"
    "npu-assay.cann"                       = "9.0.0 EMULATED"
    "npu-assay.commit.triton-ascend"       = "e8c161c28a80bddce5132b880d76c86d2f436e31"
    "npu-assay.commit.vllm"                = "bcf2be96120005e9aea171927f85055a6a5c0cf6"
    "npu-assay.commit.vllm-ascend"         = "e18643f8a4d5bd9990727654318ad069ea0b56e2"
    "npu-assay.commit.lmcache"             = "6fbec463e3c047fffb4e22c97508f03b057de3bc"
  }
}

target "cann900-vllm018-torch210-emulated-aarch64" {
  inherits  = ["_common"]
  platforms = ["linux/arm64"]
  tags      = ["${NAME}:cann900-vllm018-torch210-emulated-aarch64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK   = "cann900-vllm018-torch210"
    CANN   = "emulated"
    DEVICE = "emulated"
    BASE   = BASE
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann900-vllm018-torch210-emulated-aarch64"
    "org.opencontainers.image.description" = "vLLM 0.18.0, torch-npu 2.10.0, LMCache 0.4.4, CANN 9.0.0; the CANN in here is emulated"
    "npu-assay.lock"                       = "cann900-vllm018-torch210"
    "npu-assay.lock.sha256"                = "796956a4e6a2b0ad4fc9a39e2acf82faf14ed29a3aab4bb2dc5a1d008f1f9030"
    "npu-assay.device"                     = "emulated"
    "npu-assay.cann"                       = "9.0.0 EMULATED"
    "npu-assay.commit.triton-ascend"       = "e8c161c28a80bddce5132b880d76c86d2f436e31"
    "npu-assay.commit.vllm"                = "bcf2be96120005e9aea171927f85055a6a5c0cf6"
    "npu-assay.commit.vllm-ascend"         = "e18643f8a4d5bd9990727654318ad069ea0b56e2"
    "npu-assay.commit.lmcache"             = "6fbec463e3c047fffb4e22c97508f03b057de3bc"
  }
}

# Before it can be built: lmcache-ascend: it is compiled from https://github.com/LMCache/LMCache-Ascend at 79fc599dd2e3220de6cf8dd0d2b893549ed9d158, which this release does for vllm-ascend alone; build it in a venv of your own and compare that: npu-assay env check cann900-vllm018-torch210 --device npu --venv DIR
# Before it can be built: the vendor's image 9.0.0-910b-ubuntu22.04-py3.11: no recorded digest; give one as CANN_DIGEST
target "cann900-vllm018-torch210-image-x86_64" {
  inherits  = ["_common"]
  platforms = ["linux/amd64"]
  tags      = ["${NAME}:cann900-vllm018-torch210-image-x86_64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK        = "cann900-vllm018-torch210"
    CANN        = "image"
    DEVICE      = "npu"
    CHIP        = "910b"
    CANN_DIGEST = CANN_DIGEST
    CANN_IMAGE  = vendor_image("9.0.0-910b-ubuntu22.04-py3.11", CANN_DIGEST)
    SOC_VERSION = SOC_VERSION
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann900-vllm018-torch210-image-x86_64"
    "org.opencontainers.image.description" = "vLLM 0.18.0, torch-npu 2.10.0, LMCache 0.4.4, CANN 9.0.0"
    "npu-assay.lock"                       = "cann900-vllm018-torch210"
    "npu-assay.lock.sha256"                = "796956a4e6a2b0ad4fc9a39e2acf82faf14ed29a3aab4bb2dc5a1d008f1f9030"
    "npu-assay.device"                     = "npu"
    "npu-assay.cann"                       = "9.0.0 V100R001C10SPC001B250"
    "npu-assay.commit.triton-ascend"       = "e8c161c28a80bddce5132b880d76c86d2f436e31"
    "npu-assay.commit.vllm"                = "bcf2be96120005e9aea171927f85055a6a5c0cf6"
    "npu-assay.commit.vllm-ascend"         = "e18643f8a4d5bd9990727654318ad069ea0b56e2"
    "npu-assay.commit.lmcache"             = "6fbec463e3c047fffb4e22c97508f03b057de3bc"
    "npu-assay.commit.lmcache-ascend"      = "79fc599dd2e3220de6cf8dd0d2b893549ed9d158"
  }
}

# Before it can be built: lmcache-ascend: it is compiled from https://github.com/LMCache/LMCache-Ascend at 79fc599dd2e3220de6cf8dd0d2b893549ed9d158, which this release does for vllm-ascend alone; build it in a venv of your own and compare that: npu-assay env check cann900-vllm018-torch210 --device npu --venv DIR
# Before it can be built: the vendor's image 9.0.0-910b-ubuntu22.04-py3.11: no recorded digest; give one as CANN_DIGEST
target "cann900-vllm018-torch210-image-aarch64" {
  inherits  = ["_common"]
  platforms = ["linux/arm64"]
  tags      = ["${NAME}:cann900-vllm018-torch210-image-aarch64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK        = "cann900-vllm018-torch210"
    CANN        = "image"
    DEVICE      = "npu"
    CHIP        = "910b"
    CANN_DIGEST = CANN_DIGEST
    CANN_IMAGE  = vendor_image("9.0.0-910b-ubuntu22.04-py3.11", CANN_DIGEST)
    SOC_VERSION = SOC_VERSION
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann900-vllm018-torch210-image-aarch64"
    "org.opencontainers.image.description" = "vLLM 0.18.0, torch-npu 2.10.0, LMCache 0.4.4, CANN 9.0.0"
    "npu-assay.lock"                       = "cann900-vllm018-torch210"
    "npu-assay.lock.sha256"                = "796956a4e6a2b0ad4fc9a39e2acf82faf14ed29a3aab4bb2dc5a1d008f1f9030"
    "npu-assay.device"                     = "npu"
    "npu-assay.cann"                       = "9.0.0 V100R001C10SPC001B250"
    "npu-assay.commit.triton-ascend"       = "e8c161c28a80bddce5132b880d76c86d2f436e31"
    "npu-assay.commit.vllm"                = "bcf2be96120005e9aea171927f85055a6a5c0cf6"
    "npu-assay.commit.vllm-ascend"         = "e18643f8a4d5bd9990727654318ad069ea0b56e2"
    "npu-assay.commit.lmcache"             = "6fbec463e3c047fffb4e22c97508f03b057de3bc"
    "npu-assay.commit.lmcache-ascend"      = "79fc599dd2e3220de6cf8dd0d2b893549ed9d158"
  }
}

# Before it can be built: lmcache-ascend: it is compiled from https://github.com/LMCache/LMCache-Ascend at 79fc599dd2e3220de6cf8dd0d2b893549ed9d158, which this release does for vllm-ascend alone; build it in a venv of your own and compare that: npu-assay env check cann900-vllm018-torch210 --device npu --venv DIR
# Before it can be built: Ascend-cann-toolkit_9.0.0_linux-x86_64.run: no recorded sha256
# Before it can be built: Ascend-cann-910b-ops_9.0.0_linux-x86_64.run: no recorded sha256
# Before it can be built: Ascend-cann-nnal_9.0.0_linux-x86_64.run: no recorded sha256
target "cann900-vllm018-torch210-run-packages-x86_64" {
  inherits  = ["_common"]
  platforms = ["linux/amd64"]
  tags      = ["${NAME}:cann900-vllm018-torch210-run-packages-x86_64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK           = "cann900-vllm018-torch210"
    CANN           = "run-packages"
    DEVICE         = "npu"
    CHIP           = "910b"
    BASE           = BASE
    ACCEPT_LICENCE = ACCEPT_LICENCE
    SOC_VERSION    = SOC_VERSION
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann900-vllm018-torch210-run-packages-x86_64"
    "org.opencontainers.image.description" = "vLLM 0.18.0, torch-npu 2.10.0, LMCache 0.4.4, CANN 9.0.0"
    "npu-assay.lock"                       = "cann900-vllm018-torch210"
    "npu-assay.lock.sha256"                = "796956a4e6a2b0ad4fc9a39e2acf82faf14ed29a3aab4bb2dc5a1d008f1f9030"
    "npu-assay.device"                     = "npu"
    "npu-assay.cann"                       = "9.0.0 V100R001C10SPC001B250"
    "npu-assay.commit.triton-ascend"       = "e8c161c28a80bddce5132b880d76c86d2f436e31"
    "npu-assay.commit.vllm"                = "bcf2be96120005e9aea171927f85055a6a5c0cf6"
    "npu-assay.commit.vllm-ascend"         = "e18643f8a4d5bd9990727654318ad069ea0b56e2"
    "npu-assay.commit.lmcache"             = "6fbec463e3c047fffb4e22c97508f03b057de3bc"
    "npu-assay.commit.lmcache-ascend"      = "79fc599dd2e3220de6cf8dd0d2b893549ed9d158"
  }
}

# Before it can be built: lmcache-ascend: it is compiled from https://github.com/LMCache/LMCache-Ascend at 79fc599dd2e3220de6cf8dd0d2b893549ed9d158, which this release does for vllm-ascend alone; build it in a venv of your own and compare that: npu-assay env check cann900-vllm018-torch210 --device npu --venv DIR
# Before it can be built: Ascend-cann-toolkit_9.0.0_linux-aarch64.run: no recorded sha256
# Before it can be built: Ascend-cann-910b-ops_9.0.0_linux-aarch64.run: no recorded sha256
# Before it can be built: Ascend-cann-nnal_9.0.0_linux-aarch64.run: no recorded sha256
target "cann900-vllm018-torch210-run-packages-aarch64" {
  inherits  = ["_common"]
  platforms = ["linux/arm64"]
  tags      = ["${NAME}:cann900-vllm018-torch210-run-packages-aarch64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK           = "cann900-vllm018-torch210"
    CANN           = "run-packages"
    DEVICE         = "npu"
    CHIP           = "910b"
    BASE           = BASE
    ACCEPT_LICENCE = ACCEPT_LICENCE
    SOC_VERSION    = SOC_VERSION
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann900-vllm018-torch210-run-packages-aarch64"
    "org.opencontainers.image.description" = "vLLM 0.18.0, torch-npu 2.10.0, LMCache 0.4.4, CANN 9.0.0"
    "npu-assay.lock"                       = "cann900-vllm018-torch210"
    "npu-assay.lock.sha256"                = "796956a4e6a2b0ad4fc9a39e2acf82faf14ed29a3aab4bb2dc5a1d008f1f9030"
    "npu-assay.device"                     = "npu"
    "npu-assay.cann"                       = "9.0.0 V100R001C10SPC001B250"
    "npu-assay.commit.triton-ascend"       = "e8c161c28a80bddce5132b880d76c86d2f436e31"
    "npu-assay.commit.vllm"                = "bcf2be96120005e9aea171927f85055a6a5c0cf6"
    "npu-assay.commit.vllm-ascend"         = "e18643f8a4d5bd9990727654318ad069ea0b56e2"
    "npu-assay.commit.lmcache"             = "6fbec463e3c047fffb4e22c97508f03b057de3bc"
    "npu-assay.commit.lmcache-ascend"      = "79fc599dd2e3220de6cf8dd0d2b893549ed9d158"
  }
}

target "cann900-vllm0221-emulated-x86_64" {
  inherits  = ["_common"]
  platforms = ["linux/amd64"]
  tags      = ["${NAME}:cann900-vllm0221-emulated-x86_64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK   = "cann900-vllm0221"
    CANN   = "emulated"
    DEVICE = "emulated"
    BASE   = BASE
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann900-vllm0221-emulated-x86_64"
    "org.opencontainers.image.description" = "vLLM 0.22.1, torch-npu 2.10.0, CANN 9.0.0; the CANN in here is emulated"
    "npu-assay.lock"                       = "cann900-vllm0221"
    "npu-assay.lock.sha256"                = "bb6337df92cfdf2ef12163858f6dd9cdf64b6828aa8cd221f48e01841576cfcd"
    "npu-assay.device"                     = "emulated"
    "npu-assay.cann"                       = "9.0.0 EMULATED"
  }
}

target "cann900-vllm0221-emulated-aarch64" {
  inherits  = ["_common"]
  platforms = ["linux/arm64"]
  tags      = ["${NAME}:cann900-vllm0221-emulated-aarch64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK   = "cann900-vllm0221"
    CANN   = "emulated"
    DEVICE = "emulated"
    BASE   = BASE
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann900-vllm0221-emulated-aarch64"
    "org.opencontainers.image.description" = "vLLM 0.22.1, torch-npu 2.10.0, CANN 9.0.0; the CANN in here is emulated"
    "npu-assay.lock"                       = "cann900-vllm0221"
    "npu-assay.lock.sha256"                = "bb6337df92cfdf2ef12163858f6dd9cdf64b6828aa8cd221f48e01841576cfcd"
    "npu-assay.device"                     = "emulated"
    "npu-assay.cann"                       = "9.0.0 EMULATED"
  }
}

# Before it can be built: the vendor's image 9.0.0-910b-ubuntu22.04-py3.11: no recorded digest; give one as CANN_DIGEST
target "cann900-vllm0221-image-x86_64" {
  inherits  = ["_common"]
  platforms = ["linux/amd64"]
  tags      = ["${NAME}:cann900-vllm0221-image-x86_64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK        = "cann900-vllm0221"
    CANN        = "image"
    DEVICE      = "npu"
    CHIP        = "910b"
    CANN_DIGEST = CANN_DIGEST
    CANN_IMAGE  = vendor_image("9.0.0-910b-ubuntu22.04-py3.11", CANN_DIGEST)
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann900-vllm0221-image-x86_64"
    "org.opencontainers.image.description" = "vLLM 0.22.1, torch-npu 2.10.0, CANN 9.0.0"
    "npu-assay.lock"                       = "cann900-vllm0221"
    "npu-assay.lock.sha256"                = "bb6337df92cfdf2ef12163858f6dd9cdf64b6828aa8cd221f48e01841576cfcd"
    "npu-assay.device"                     = "npu"
    "npu-assay.cann"                       = "9.0.0 V100R001C10SPC001B250"
  }
}

# Before it can be built: triton-ascend: its sha256 for aarch64 is unverified; record the file that you trust: npu-assay env lock cann900-vllm0221 --record FILE
# Before it can be built: the vendor's image 9.0.0-910b-ubuntu22.04-py3.11: no recorded digest; give one as CANN_DIGEST
target "cann900-vllm0221-image-aarch64" {
  inherits  = ["_common"]
  platforms = ["linux/arm64"]
  tags      = ["${NAME}:cann900-vllm0221-image-aarch64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK        = "cann900-vllm0221"
    CANN        = "image"
    DEVICE      = "npu"
    CHIP        = "910b"
    CANN_DIGEST = CANN_DIGEST
    CANN_IMAGE  = vendor_image("9.0.0-910b-ubuntu22.04-py3.11", CANN_DIGEST)
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann900-vllm0221-image-aarch64"
    "org.opencontainers.image.description" = "vLLM 0.22.1, torch-npu 2.10.0, CANN 9.0.0"
    "npu-assay.lock"                       = "cann900-vllm0221"
    "npu-assay.lock.sha256"                = "bb6337df92cfdf2ef12163858f6dd9cdf64b6828aa8cd221f48e01841576cfcd"
    "npu-assay.device"                     = "npu"
    "npu-assay.cann"                       = "9.0.0 V100R001C10SPC001B250"
  }
}

# Before it can be built: Ascend-cann-toolkit_9.0.0_linux-x86_64.run: no recorded sha256
# Before it can be built: Ascend-cann-910b-ops_9.0.0_linux-x86_64.run: no recorded sha256
# Before it can be built: Ascend-cann-nnal_9.0.0_linux-x86_64.run: no recorded sha256
target "cann900-vllm0221-run-packages-x86_64" {
  inherits  = ["_common"]
  platforms = ["linux/amd64"]
  tags      = ["${NAME}:cann900-vllm0221-run-packages-x86_64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK           = "cann900-vllm0221"
    CANN           = "run-packages"
    DEVICE         = "npu"
    CHIP           = "910b"
    BASE           = BASE
    ACCEPT_LICENCE = ACCEPT_LICENCE
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann900-vllm0221-run-packages-x86_64"
    "org.opencontainers.image.description" = "vLLM 0.22.1, torch-npu 2.10.0, CANN 9.0.0"
    "npu-assay.lock"                       = "cann900-vllm0221"
    "npu-assay.lock.sha256"                = "bb6337df92cfdf2ef12163858f6dd9cdf64b6828aa8cd221f48e01841576cfcd"
    "npu-assay.device"                     = "npu"
    "npu-assay.cann"                       = "9.0.0 V100R001C10SPC001B250"
  }
}

# Before it can be built: triton-ascend: its sha256 for aarch64 is unverified; record the file that you trust: npu-assay env lock cann900-vllm0221 --record FILE
# Before it can be built: Ascend-cann-toolkit_9.0.0_linux-aarch64.run: no recorded sha256
# Before it can be built: Ascend-cann-910b-ops_9.0.0_linux-aarch64.run: no recorded sha256
# Before it can be built: Ascend-cann-nnal_9.0.0_linux-aarch64.run: no recorded sha256
target "cann900-vllm0221-run-packages-aarch64" {
  inherits  = ["_common"]
  platforms = ["linux/arm64"]
  tags      = ["${NAME}:cann900-vllm0221-run-packages-aarch64${IMAGE == "runtime" ? "" : "-${IMAGE}"}${OWN}"]
  args = {
    LOCK           = "cann900-vllm0221"
    CANN           = "run-packages"
    DEVICE         = "npu"
    CHIP           = "910b"
    BASE           = BASE
    ACCEPT_LICENCE = ACCEPT_LICENCE
  }
  labels = {
    "org.opencontainers.image.title"       = "npu-assay cann900-vllm0221-run-packages-aarch64"
    "org.opencontainers.image.description" = "vLLM 0.22.1, torch-npu 2.10.0, CANN 9.0.0"
    "npu-assay.lock"                       = "cann900-vllm0221"
    "npu-assay.lock.sha256"                = "bb6337df92cfdf2ef12163858f6dd9cdf64b6828aa8cd221f48e01841576cfcd"
    "npu-assay.device"                     = "npu"
    "npu-assay.cann"                       = "9.0.0 V100R001C10SPC001B250"
  }
}
