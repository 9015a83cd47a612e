"""Compilers that take ONNX themselves: one module each, named as its engine in :data:`deltann.engines.ENGINES`.

It has ``build(model, level, path)``: an ``onnx.ModelProto`` with a batch of 1 into the module that the engine runs on
this host, at a level of the engine's (None: what the compiler does by itself), written to a path; and
``telling_line(error)``: what an exception of the compiler's says, in one line.
"""
