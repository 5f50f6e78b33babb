"""The pages, in the order of the road: start, schema, plan, run, result, ledger."""
