"""The rules of the world: parameters by section of the SPEC, formulas, and how worlds are drawn.

Pure data and pure functions, which the processes of the world and the policies that plan in it
share. Nothing here imports a clock, a state or a process.
"""
