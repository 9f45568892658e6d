"""An image's base, by the names that docker takes."""

import pytest

from npu_assay.docker.built import BaseImage


@pytest.mark.parametrize(
    ("reference", "purl"),
    [
        ("debian", "pkg:docker/debian@latest"),
        ("debian:bookworm-slim", "pkg:docker/debian@bookworm-slim"),
        ("debian:bookworm-slim@sha256:aa", "pkg:docker/debian@sha256:aa"),
        ("ascend/cann:9", "pkg:docker/ascend/cann@9"),
        ("quay.io/ascend/cann:9", "pkg:docker/ascend/cann@9?repository_url=quay.io"),
        ("localhost/debian", "pkg:docker/debian@latest?repository_url=localhost"),
        ("mirror:5000/debian", "pkg:docker/debian@latest?repository_url=mirror:5000"),
    ],
)
def test_a_base_has_the_package_url_of_its_name(reference: str, purl: str) -> None:
    assert str(BaseImage(reference, None).purl) == purl
