"""The definitions that code reaches: found in its source, with nothing imported or run.

* `syntax`: a statement as a digest that no comment, docstring or layout changes, and the names in
  it that come from its module.
* `modules`: where modules are, and what their top level binds.
* `reached`: the definitions that some classes and functions lead to, in all modules.
"""
