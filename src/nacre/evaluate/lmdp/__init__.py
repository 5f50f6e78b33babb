"""α-level marginal distribution privacy: which marginals are visibly not the real ones?"""
