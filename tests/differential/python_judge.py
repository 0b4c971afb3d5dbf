#!/usr/bin/env python3
"""Judges lines {"schema": ..., "instances": [...]} from standard input with python3-jsonschema: the letters of
ajv_judge.mjs. Numbers are read as exact decimals, which its comparisons keep."""

import decimal
import json
import sys

# Debian's package, whatever else is installed by hand.
sys.path.insert(0, "/usr/lib/python3/dist-packages")
import jsonschema

# Enough for 128-digit literals with exponents up to 1024 on either side of a remainder.
decimal.setcontext(decimal.Context(prec=5000, Emax=100_000, Emin=-100_000))


def is_integer(checker, instance):
    if isinstance(instance, decimal.Decimal):
        return instance == instance.to_integral_value()
    return jsonschema.Draft7Validator.TYPE_CHECKER.is_type(instance, "integer")


Validator = jsonschema.validators.extend(
    jsonschema.Draft7Validator, type_checker=jsonschema.Draft7Validator.TYPE_CHECKER.redefine("integer", is_integer)
)


def judge(validator, instance):
    try:
        return "V" if validator.is_valid(instance) else "I"
    except Exception:  # whatever it throws is its verdict
        return "E"


for line in sys.stdin:
    request = json.loads(line, parse_float=decimal.Decimal)
    schema = Validator(request["schema"])
    print("".join(judge(schema, instance) for instance in request["instances"]))
