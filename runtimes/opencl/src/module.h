// OpenCL code as a module of TVM's.
#pragma once

#include <tvm/ffi/container/map.h>
#include <tvm/ffi/extra/module.h>

#include "kernel_set.h"

namespace deltann::opencl {

namespace ffi = tvm::ffi;

/// From the bytes in an exported library; TVM finds this as `ffi.Module.load_from_bytes.opencl`.
ffi::Module ModuleFromBytes(const ffi::Bytes& bytes);

/// From what the compiler made, in this process; TVM finds this as `ffi.Module.create.opencl`.
ffi::Module ModuleFromCompiler(const ffi::Bytes& code, const ffi::String& format,
                               const ffi::Map<ffi::String, ffi::ObjectRef>& functions,
                               const ffi::Map<ffi::String, ffi::Any>& sources);

}  // namespace deltann::opencl
