#include "error.h"

#include <tvm/ffi/error.h>

#include <array>
#include <utility>

namespace deltann::opencl {
namespace {

constexpr cl_int kNoPlatform = -1001;  // CL_PLATFORM_NOT_FOUND_KHR, of the extension cl_khr_icd

#define DELTANN_STATUS(name) \
  { name, #name }
constexpr std::array kNames = std::to_array<std::pair<cl_int, const char*>>({
    DELTANN_STATUS(CL_DEVICE_NOT_FOUND),
    DELTANN_STATUS(CL_DEVICE_NOT_AVAILABLE),
    DELTANN_STATUS(CL_COMPILER_NOT_AVAILABLE),
    DELTANN_STATUS(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    DELTANN_STATUS(CL_OUT_OF_RESOURCES),
    DELTANN_STATUS(CL_OUT_OF_HOST_MEMORY),
    DELTANN_STATUS(CL_PROFILING_INFO_NOT_AVAILABLE),
    DELTANN_STATUS(CL_MEM_COPY_OVERLAP),
    DELTANN_STATUS(CL_BUILD_PROGRAM_FAILURE),
    DELTANN_STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    DELTANN_STATUS(CL_INVALID_VALUE),
    DELTANN_STATUS(CL_INVALID_DEVICE),
    DELTANN_STATUS(CL_INVALID_CONTEXT),
    DELTANN_STATUS(CL_INVALID_COMMAND_QUEUE),
    DELTANN_STATUS(CL_INVALID_MEM_OBJECT),
    DELTANN_STATUS(CL_INVALID_PROGRAM_EXECUTABLE),
    DELTANN_STATUS(CL_INVALID_KERNEL_NAME),
    DELTANN_STATUS(CL_INVALID_KERNEL),
    DELTANN_STATUS(CL_INVALID_ARG_INDEX),
    DELTANN_STATUS(CL_INVALID_ARG_VALUE),
    DELTANN_STATUS(CL_INVALID_ARG_SIZE),
    DELTANN_STATUS(CL_INVALID_KERNEL_ARGS),
    DELTANN_STATUS(CL_INVALID_WORK_DIMENSION),
    DELTANN_STATUS(CL_INVALID_WORK_GROUP_SIZE),
    DELTANN_STATUS(CL_INVALID_WORK_ITEM_SIZE),
    DELTANN_STATUS(CL_INVALID_GLOBAL_WORK_SIZE),
    DELTANN_STATUS(CL_INVALID_EVENT),
    DELTANN_STATUS(CL_INVALID_OPERATION),
    DELTANN_STATUS(CL_INVALID_BUFFER_SIZE),
    {kNoPlatform, "CL_PLATFORM_NOT_FOUND_KHR"},
});
#undef DELTANN_STATUS

}  // namespace

std::string StatusName(cl_int status) {
  for (const auto& [value, name] : kNames) {
    if (value == status) return std::string(name) + " (" + std::to_string(status) + ")";
  }
  return "status " + std::to_string(status);
}

void Fail(const std::string& message) { TVM_FFI_THROW(RuntimeError) << message; }

}  // namespace deltann::opencl
