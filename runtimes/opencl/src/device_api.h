// TVM's device interface for OpenCL.
#pragma once

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/map.h>
#include <tvm/runtime/device_api.h>

namespace deltann::opencl {

namespace ffi = tvm::ffi;

/// The one instance, which TVM finds as `device_api.opencl`. A tensor's `data` is its cl_mem.
tvm::runtime::DeviceAPI* TheDeviceAPI();

/// For people and registers: name, platform, version, driver, memory_bytes and fp16 of each device, in TVM's order.
ffi::Array<ffi::Map<ffi::String, ffi::Any>> DescribeDevices();

}  // namespace deltann::opencl
