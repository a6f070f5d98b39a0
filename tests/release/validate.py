"""validate.py FILE...: holds SBOMs against the official schema of CycloneDX 1.5; prints what is wrong, and ends with 1."""
import pathlib
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

faults = [f"{file}: {fault}" for file in sys.argv[1:]
          if (fault := JsonStrictValidator(SchemaVersion.V1_5).validate_str(pathlib.Path(file).read_text()))]
print(*faults, sep="\n")
sys.exit(bool(faults))
