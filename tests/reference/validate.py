"""Validates YAML files with a JSON Schema: validate.py SCHEMA FILE...

In a ConfigMap it validates the text under policy.yaml or config.yaml. Prints `FILE: KEY: fault`, and exits with 1 if
there is one. Needs python3-jsonschema and python3-yaml.
"""
import json
import sys

import jsonschema
import yaml


def documents_of(path):
    with open(path, encoding="utf-8") as file:
        for document in yaml.safe_load_all(file):
            if (document or {}).get("kind") is None:
                yield document or {}
            elif document["kind"] == "ConfigMap":
                for name in {"policy.yaml", "config.yaml"} & document["data"].keys():
                    yield yaml.safe_load(document["data"][name])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    faults = 0
    for path in sys.argv[2:]:
        documents = list(documents_of(path))
        if not documents:
            print(f"{path}: holds no such file")
            faults += 1
        for document in documents:
            for error in validator.iter_errors(document):
                print(f"{path}: {'.'.join(map(str, error.absolute_path))}: {error.message}")
                faults += 1
    return 1 if faults else 0


sys.exit(main())
