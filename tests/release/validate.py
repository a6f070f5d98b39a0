"""validate.py FILE...: validates SBOMs with the official schema of CycloneDX 1.5; prints the faults, and exits with 1
if there are any."""
import pathlib
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

faults = [f"{file}: {fault}" for file in sys.argv[1:]
          if (fault := JsonStrictValidator(SchemaVersion.V1_5).validate_str(pathlib.Path(file).read_text()))]
print(*faults, sep="\n")
sys.exit(bool(faults))
