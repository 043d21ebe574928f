"""Reads metrics with the OpenMetrics parser of Prometheus' client library, and checks histograms.

    parse.py FILE

Prints the number of samples. The parser checks names, types, units, labels and the order of lines.
"""
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families


def check_histogram(family):
    """The buckets of each series rise, and the last one is the count."""
    buckets, counts = {}, {}
    for sample in family.samples:
        labels = {k: v for k, v in sample.labels.items() if k != "le"}
        key = tuple(sorted(labels.items()))
        if sample.name.endswith("_bucket"):
            buckets.setdefault(key, []).append((float(sample.labels["le"]), sample.value))
        elif sample.name.endswith("_count"):
            counts[key] = sample.value
    for key, values in buckets.items():
        assert values == sorted(values) and len(values) == 26, (family.name, key)
        assert [v for _, v in values] == sorted(v for _, v in values), (family.name, key)
        assert values[-1][1] == counts[key], (family.name, key)


samples, names = 0, set()
with open(sys.argv[1], encoding="utf-8", newline="") as f:
    for family in text_string_to_metric_families(f.read()):
        assert family.name not in names, family.name
        names.add(family.name)
        assert family.documentation, family.name
        samples += len(family.samples)
        if family.type == "histogram":
            check_histogram(family)
print(samples)
