// Owners of OpenCL's reference-counted handles.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <memory>
#include <type_traits>

namespace deltann::opencl {

template <auto release>
struct Releaser {
  template <typename Handle>
  void operator()(Handle* handle) const noexcept {
    release(handle);
  }
};

template <typename Handle, auto release>
using Owner = std::unique_ptr<std::remove_pointer_t<Handle>, Releaser<release>>;

using Context = Owner<cl_context, clReleaseContext>;
using Queue = Owner<cl_command_queue, clReleaseCommandQueue>;
using Program = Owner<cl_program, clReleaseProgram>;
using Kernel = Owner<cl_kernel, clReleaseKernel>;
using Event = Owner<cl_event, clReleaseEvent>;
using Buffer = Owner<cl_mem, clReleaseMemObject>;

}  // namespace deltann::opencl
