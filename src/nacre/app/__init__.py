"""The web page for people who do not write code: from a file to a report, `nacre serve`.

Pages are made on the server and hold no script of their own.  Nothing here computes with private
rows for a release: fits run in a process of their own, through `nacre.fit` as on the command line.
"""
