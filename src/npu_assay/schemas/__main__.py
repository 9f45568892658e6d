"""Write the schemas that are stale; ci/schemas runs this."""

from npu_assay.schemas import FOLDER, MODELS, render, schema_file, stale

for name in stale():
    if name in MODELS:
        schema_file(name).write_text(render(name))
        print(f"{schema_file(name).name}: written")
    else:
        (FOLDER / name).unlink()
        print(f"{name}: removed, no model has that name")
