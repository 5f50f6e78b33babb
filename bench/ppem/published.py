"""The paper's numbers: its Table 1, D.3 and D.4.

Those with differential privacy were reached by an unsound scheme, at delta = 1/n.
"""

# AUROC, MSE and R² of Credit; the mean AUROC over columns of MIMIC-III.
PUBLISHED: dict[str, dict[str, tuple[float, ...]]] = {
    "credit": {
        "real": (0.975, 0.124, 0.881),
        "wgan": (0.966, 0.126, 0.879),
        "energygan": (0.871, 7.13, -5.86),
        "steingan": (0.822, 1.81, -0.740),
        "2, ε = ∞": (0.922, 0.184, 0.822),
        "5, ε = ∞": (0.948, 0.196, 0.812),
        "2, ε = 1": (0.872, 0.656, 0.368),
        "5, ε = 1": (0.889, 0.485, 0.533),
        "2, marginal only": (0.903, 0.602, 0.421),
        "5, marginal only": (0.891, 0.720, 0.307),
        "dpgan": (0.857, 1.881, -0.811),
        "pategan": (0.879, 1.569, -0.510),
    },
    "icd": {
        "real": (0.970,),
        "wgan": (0.811,),
        "medgan": (0.625,),
        "50, ε = ∞": (0.828,),
        "200, ε = ∞": (0.769,),
        "50, ε = 1": (0.504,),
        "200, ε = 1": (0.511,),
        "dpgan": (0.491,),
        "pategan": (0.490,),
    },
}
HEADS = {"credit": ("AUROC", "MSE", "R²"), "icd": ("mean AUROC",)}
