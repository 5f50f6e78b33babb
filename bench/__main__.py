"""python -m bench NAME: run one of the measurements and print its table."""

import importlib
import sys

NAMES = {
    "ablations": "small studies: what each part of a method is good for",
    "adult": "each method on Adult: the papers' protocol and the official split",
    "answers": "how often intervals of released tables hold the private counts",
    "associations": "pairs of columns of public tables whose association is off",
    "audits": "every private method attacked on simulated tables; resumes where it stopped",
    "autogan": "DP-auto-GAN's scores and figures on Adult and on patients by ICD-9 category",
    "detector": "how well a boosted classifier tells real from synthetic rows of public tables",
    "drafts": "ten public tables drafted: the columns that are left to edit",
    "evaluate": "seconds and memory of evaluating Adult and a table of a million rows",
    "faults": "processes killed while they fit, save, sample and spend; crowds; full disks",
    "functional": "the functional mechanism in its three forms: a toy in the plane, Adult",
    "fuzz": "hostile schemas, tables, images, models, addresses and commands, counted",
    "growth": "seconds and memory of Mosaic for more columns and more rows",
    "houses": "a table of houses made up: what comes through of a numeric label",
    "images": "MNIST and Fashion-MNIST by each method, beside the published numbers",
    "links": "tables made up so that links, tails, gaps and parity are known",
    "lmdp": "PPEM's study of its statistic: how often it rejects, beside others",
    "passes": "what a row costs in one pass as rows, columns, classes or frequencies grow; a chart",
    "peers": "other tools on Adult's official split, if they are installed",
    "persons": "several rows a person against one, on encounters of diabetes patients",
    "ppem": "PPEM's tables: Credit and patients by ICD-9 category, with columns hidden",
    "public": "how often what a public page says is true of a table with spikes inside cells",
    "readme": "what each method gives on Adult at ε = 1: the README's table",
    "scale": "rows a second of encoding and summing against the machine's limits",
    "serve": "how fast the web page answers while a model is made, and its extra's size",
    "simulated-codes": "how often the look-up table of codes that was bought is wrong",
    "simulated-facts": "made tables: spikes, few values, facts that hold, rules on small groups",
    "speed": "a training step, vault.sum, and memory against references in the same run",
    "startup": "import, --help and demo times",
    "tables": "the papers' tables, run again; --quick takes minutes, --minutes N stops after N",
    "training": "a step of private training against NumPy, and by the number of rows",
}
# A command is a verb, its module a noun.
MODULES = {
    "evaluate": "evaluation",
    "houses": "simulated_houses",
    "links": "simulated_links",
    "simulated-codes": "simulated_codes",
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
