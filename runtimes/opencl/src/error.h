// Failures of OpenCL as exceptions of TVM, each a sentence that says what could not be done.
#pragma once

#include <string>

#include "handle.h"

namespace deltann::opencl {

/// The name that the OpenCL standard has for a status, with its number: "CL_OUT_OF_RESOURCES (-5)".
std::string StatusName(cl_int status);

/// Throws a RuntimeError of TVM's.
[[noreturn]] void Fail(const std::string& message);

/// Throws where `status` is no success. `action` completes "OpenCL could not …".
inline void Check(cl_int status, const char* action) {
  if (status != CL_SUCCESS) Fail(std::string("OpenCL could not ") + action + ": " + StatusName(status) + ".");
}

}  // namespace deltann::opencl
