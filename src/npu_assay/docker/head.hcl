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
