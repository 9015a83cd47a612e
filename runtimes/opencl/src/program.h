// A kernel set built on the devices that it is used on, and the launch of its kernels.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "devices.h"
#include "kernel_set.h"

namespace deltann::opencl {

/// Work items of a launch: the number of groups, and the size of one, along x, y and z.
struct Grid {
  size_t groups[3] = {1, 1, 1};
  size_t group[3] = {1, 1, 1};
};

/// Builds on the first use on a device, once for all threads.
class BuiltKernels {
 public:
  explicit BuiltKernels(KernelSet set) : set_(std::move(set)) {}

  const KernelSet& set() const { return set_; }

  /// Puts a kernel into the queue of the current device. `set_arguments` is given the kernel to set them on; what it
  /// and this do happens under a lock, since a kernel's arguments are a state of its handle.
  template <typename SetArguments>
  void Launch(const KernelSignature& signature, const Grid& grid, SetArguments set_arguments) {
    const Device& device = Devices::Get().at(CurrentDevice());
    const std::lock_guard lock(mutex_);
    const cl_kernel kernel = KernelOn(device, signature.name);
    set_arguments(kernel);
    Enqueue(device, kernel, signature.name, grid);
  }

 private:
  struct Built {
    Program program;
    std::map<std::string, Kernel> kernels;
  };

  cl_kernel KernelOn(const Device& device, const std::string& name);
  Program Build(const Device& device) const;
  static void Enqueue(const Device& device, cl_kernel kernel, const std::string& name, const Grid& grid);

  const KernelSet set_;
  std::mutex mutex_;
  std::map<cl_device_id, Built> built_;
};

}  // namespace deltann::opencl
