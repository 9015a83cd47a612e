#include "program.h"

#include <algorithm>

#include "error.h"

namespace deltann::opencl {
namespace {

struct Need {
  const char* in_source;  // by which TVM's code shows that it needs the extension
  const char* extension;
  const char* sentence;
};
constexpr Need kNeeds[] = {
    {"cl_khr_fp16", "cl_khr_fp16", "half precision (fp16)"},
    {"cl_khr_fp64", "cl_khr_fp64", "double precision (fp64)"},
};
constexpr size_t kLogEnd = 4000;  // compilers tell the first mistake first

std::string BuildLog(cl_program program, const Device& device) {
  size_t size = 0;
  if (clGetProgramBuildInfo(program, device.id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS) return "";
  std::string log(size, '\0');
  clGetProgramBuildInfo(program, device.id, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  log.resize(std::min({log.find('\0'), log.size(), kLogEnd}));
  return log;
}

// The first mistake that a log tells: what is shown where there is room for a line only.
std::string TellingLine(const std::string& log) {
  const auto mistake = log.find("error");
  const auto begin = mistake == std::string::npos ? 0 : log.rfind('\n', mistake) + 1;  // npos + 1 is 0
  return log.substr(begin, log.find('\n', begin) - begin);
}

void CheckExtensions(const std::string& code, const Device& device) {
  for (const Need& need : kNeeds) {
    if (code.find(need.in_source) == std::string::npos || device.Has(need.extension)) continue;
    Fail(std::string("The module computes in ") + need.sentence + ", and " + device.name + " (" + device.platform +
         ") has no " + need.extension + ": compile it in fp32, or run it on a device that has this extension.");
  }
}

size_t Items(const size_t (&sizes)[3]) { return sizes[0] * sizes[1] * sizes[2]; }

}  // namespace

cl_kernel BuiltKernels::KernelOn(const Device& device, const std::string& name) {
  Built& built = built_[device.id];
  if (!built.program) built.program = Build(device);
  Kernel& kernel = built.kernels[name];
  if (!kernel) {
    cl_int status = CL_SUCCESS;
    kernel.reset(clCreateKernel(built.program.get(), name.c_str(), &status));
    Check(status, ("find the kernel " + name + " in its program").c_str());
  }
  return kernel.get();
}

Program BuiltKernels::Build(const Device& device) const {
  CheckExtensions(set_.code, device);
  const char* source = set_.code.data();
  const size_t length = set_.code.size();
  cl_int status = CL_SUCCESS;
  Program program(clCreateProgramWithSource(device.context.get(), 1, &source, &length, &status));
  Check(status, "take a program");
  status = clBuildProgram(program.get(), 1, &device.id, "", nullptr, nullptr);
  if (status != CL_SUCCESS) {
    const std::string log = BuildLog(program.get(), device);
    Fail("The OpenCL compiler of " + device.name + " (" + device.platform + ") refused the module's kernels, with " +
         StatusName(status) + ": " + TellingLine(log) + "\n" + log);
  }
  return program;
}

void BuiltKernels::Enqueue(const Device& device, cl_kernel kernel, const std::string& name, const Grid& grid) {
  size_t items[3];
  for (int axis = 0; axis < 3; ++axis) items[axis] = grid.groups[axis] * grid.group[axis];
  if (Items(items) == 0) return;  // an empty tensor
  const cl_int status =
      clEnqueueNDRangeKernel(device.queue.get(), kernel, 3, nullptr, items, grid.group, 0, nullptr, nullptr);
  if (status == CL_INVALID_WORK_GROUP_SIZE || status == CL_INVALID_WORK_ITEM_SIZE) {
    Fail("The kernel " + name + " has groups of " + std::to_string(Items(grid.group)) + " work items, and " +
         device.name + " runs at most " + std::to_string(device.Get<size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE)) +
         " of this kernel or fewer: compile for a target with a smaller max_num_threads.");
  }
  Check(status, ("start the kernel " + name).c_str());
}

}  // namespace deltann::opencl
