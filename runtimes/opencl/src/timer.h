// TVM's timer for OpenCL.
#pragma once

// timer.h includes tensor.h, which it does not need, and which needs headers that are not in the wheel.
#define TVM_RUNTIME_TENSOR_H_
#include <tvm/runtime/timer.h>

namespace deltann::opencl {

/// A timer that is not started yet; TVM finds this as `runtime.timer.opencl`.
tvm::runtime::Timer MakeTimer(DLDevice device);

}  // namespace deltann::opencl
