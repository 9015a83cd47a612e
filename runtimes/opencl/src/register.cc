// What TVM finds by name once this library is loaded.
#include <tvm/ffi/reflection/registry.h>
#include <tvm/runtime/base.h>

#include "device_api.h"
#include "module.h"
#include "timer.h"

namespace deltann::opencl {
namespace {

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef()
      .def("device_api.opencl", []() -> void* { return TheDeviceAPI(); })
      .def("runtime.timer.opencl", MakeTimer)
      .def("ffi.Module.load_from_bytes.opencl", ModuleFromBytes)
      .def("ffi.Module.create.opencl", ModuleFromCompiler)
      .def("deltann.opencl.devices", DescribeDevices)
      .def("deltann.opencl.built_for", []() -> ffi::String { return TVM_VERSION; });
}

}  // namespace
}  // namespace deltann::opencl
