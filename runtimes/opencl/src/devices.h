// The OpenCL devices of this host, in the order in which TVM numbers them.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "handle.h"

namespace deltann::opencl {

/// A device, and the one in-order queue on which all of its work is.
struct Device {
  cl_device_id id;
  std::string name;
  std::string platform;
  std::string extensions;  // each with a space before and behind it
  Context context;
  Queue queue;

  bool Has(const std::string& extension) const;
  /// A property of a fixed size, as the standard defines it.
  template <typename Value>
  Value Get(cl_device_info what) const {
    Value value{};
    Read(what, sizeof(value), &value);
    return value;
  }
  std::string GetText(cl_device_info what) const;
  /// The largest work group along x, y and z.
  std::vector<size_t> MaxGroup() const;

 private:
  void Read(cl_device_info what, size_t size, void* value) const;
};

/// All devices: GPUs before accelerators before CPUs, or those that DELTANN_OPENCL_DEVICES names, in its order.
///
/// The variable holds indices into that order, or parts of "platform / device" without regard to case, between commas.
class Devices {
 public:
  /// The one instance. It is never destroyed, since a driver may be gone before this library is.
  static Devices& Get();

  size_t size() const { return devices_.size(); }
  bool Exists(int index) const { return index >= 0 && static_cast<size_t>(index) < devices_.size(); }
  /// Throws a sentence that says which devices there are.
  const Device& at(int index) const;

 private:
  Devices();

  std::vector<Device> devices_;
  std::string none_because_;
};

/// The index of the device that this thread works on, as TVM set it last.
int& CurrentDevice();

}  // namespace deltann::opencl
