"""python -m bench NAME: run one of the measurements and print its table."""

import importlib
import sys

NAMES = {
    "ablations": "small studies: what each part of a method is good for",
    "adult": "each method on Adult: the papers' protocol and the official split",
    "answers": "how often intervals of released tables hold the private counts",
    "autogan": "DP-auto-GAN's scores and figures on Adult and on patients by ICD-9 category",
    "evaluate": "seconds and memory of evaluating Adult and a table of a million rows",
    "functional": "the functional mechanism in its three forms: a toy in the plane, Adult",
    "images": "MNIST and Fashion-MNIST by each method, beside the published numbers",
    "lmdp": "PPEM's study of its statistic: how often it rejects, beside others",
    "growth": "seconds and memory of Mosaic for more columns and more rows",
    "links": "tables made up so that links, tails, gaps and parity are known",
    "peers": "other tools on Adult's official split, if they are installed",
    "persons": "several rows a person against one, on encounters of diabetes patients",
    "ppem": "PPEM's tables: Credit and patients by ICD-9 category, with columns hidden",
    "readme": "what each method gives on Adult at ε = 1: the README's table",
    "simulated-facts": "made tables: spikes, few values, facts that hold, rules on small groups",
    "speed": "a training step, vault.sum, and memory against references in the same run",
    "startup": "import, --help and demo times",
    "training": "a step of private training against NumPy, and by the number of rows",
    "tables": "the papers' tables, run again; --quick takes minutes, --minutes N stops after N",
}
# A command is a verb, its module a noun.
MODULES = {
    "evaluate": "evaluation",
    "links": "simulated_links",
    "simulated-facts": "simulated_facts",
}


def main() -> None:
    """Run the named measurement, or list them."""
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        print("python -m bench NAME [options], NAME one of:")
        for name, meaning in NAMES.items():
            print(f"  {name:15} {meaning}")
        raise SystemExit(0 if len(sys.argv) < 2 else 2)
    module = MODULES.get(sys.argv[1], sys.argv[1])
    importlib.import_module(f"bench.{module}").main(sys.argv[2:])


if __name__ == "__main__":
    main()
