// TVM's device interface: properties, memory and copies of OpenCL devices.
#include "device_api.h"

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/map.h>

#include <vector>

#include "devices.h"
#include "error.h"

namespace deltann::opencl {
namespace {

using tvm::runtime::DeviceAPI;
using tvm::runtime::DeviceAttrKind;

cl_mem AsBuffer(const void* data) { return static_cast<cl_mem>(const_cast<void*>(data)); }

// "3.0" of "OpenCL 3.0 PoCL …".
std::string ComputeVersion(const Device& device) {
  const std::string text = device.GetText(CL_DEVICE_VERSION);
  const auto from = text.find(' ') + 1;
  return text.substr(from, text.find(' ', from) - from);
}

std::string AsJson(const std::vector<size_t>& sizes) {
  std::string text;
  for (size_t size : sizes) text += (text.empty() ? "[" : ", ") + std::to_string(size);
  return text + "]";
}

class OpenCLDeviceAPI final : public DeviceAPI {
 public:
  void SetDevice(DLDevice device) final { CurrentDevice() = device.device_id; }

  void GetAttr(DLDevice which, DeviceAttrKind kind, ffi::Any* result) final {
    const Devices& all = Devices::Get();
    if (kind == tvm::runtime::kExist) {
      *result = static_cast<int64_t>(all.Exists(which.device_id));
      return;
    }
    *result = Attribute(all.at(which.device_id), kind);
  }

  void GetTargetProperty(DLDevice which, const std::string& property, ffi::Any* result) final {
    const Device& device = Devices::Get().at(which.device_id);
    if (property == "max_num_threads" || property == "max_threads_per_block") {
      *result = Attribute(device, tvm::runtime::kMaxThreadsPerBlock);
    } else if (property == "max_shared_memory_per_block") {
      *result = Attribute(device, tvm::runtime::kMaxSharedMemoryPerBlock);
    } else if (property == "thread_warp_size") {
      *result = Attribute(device, tvm::runtime::kWarpSize);
    }
  }

  using DeviceAPI::AllocDataSpace;  // the overload with a memory scope stays TVM's
  void* AllocDataSpace(DLDevice which, size_t bytes, size_t, DLDataType) final {
    const Device& device = Devices::Get().at(which.device_id);
    const auto most = device.Get<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    if (bytes > most) {
      Fail("A tensor of " + std::to_string(bytes) + " bytes does not fit on " + device.name +
           ", which has buffers of at most " + std::to_string(most) + " bytes. Use a smaller batch or model.");
    }
    cl_int status = CL_SUCCESS;
    const size_t size = bytes == 0 ? 1 : bytes;  // OpenCL has no empty buffers, and TVM has empty tensors
    Buffer buffer(clCreateBuffer(device.context.get(), CL_MEM_READ_WRITE, size, nullptr, &status));
    Check(status, ("allocate " + std::to_string(bytes) + " bytes on " + device.name).c_str());
    return buffer.release();
  }

  // A driver keeps the memory until the commands that use it are done.
  void FreeDataSpace(DLDevice, void* data) final { Check(clReleaseMemObject(AsBuffer(data)), "free a buffer"); }

  void StreamSync(DLDevice which, TVMStreamHandle) final {
    Check(clFinish(Devices::Get().at(which.device_id).queue.get()), "finish the work on the device");
  }

 protected:
  using DeviceAPI::CopyDataFromTo;
  void CopyDataFromTo(const void* from, size_t from_offset, void* to, size_t to_offset, size_t bytes,
                      DLDevice from_device, DLDevice to_device, DLDataType, TVMStreamHandle) final {
    if (bytes == 0) return;
    const bool reads = from_device.device_type == kDLOpenCL;
    const bool writes = to_device.device_type == kDLOpenCL;
    if (reads && writes && from_device.device_id == to_device.device_id) {
      Check(clEnqueueCopyBuffer(QueueOf(from_device), AsBuffer(from), AsBuffer(to), from_offset, to_offset, bytes, 0,
                                nullptr, nullptr),
            "copy within the device");
    } else if (reads && writes) {  // devices of two contexts meet in the host's memory
      std::vector<char> between(bytes);
      Download(from_device, from, from_offset, between.data(), bytes);
      Upload(to_device, between.data(), to, to_offset, bytes);
    } else if (reads) {
      Download(from_device, from, from_offset, static_cast<char*>(to) + to_offset, bytes);
    } else {
      Upload(to_device, static_cast<const char*>(from) + from_offset, to, to_offset, bytes);
    }
  }

 private:
  static cl_command_queue QueueOf(DLDevice which) { return Devices::Get().at(which.device_id).queue.get(); }

  static void Download(DLDevice which, const void* from, size_t offset, void* to, size_t bytes) {
    Check(clEnqueueReadBuffer(QueueOf(which), AsBuffer(from), CL_TRUE, offset, bytes, to, 0, nullptr, nullptr),
          "copy from the device");
  }

  static void Upload(DLDevice which, const void* from, void* to, size_t offset, size_t bytes) {
    Check(clEnqueueWriteBuffer(QueueOf(which), AsBuffer(to), CL_TRUE, offset, bytes, from, 0, nullptr, nullptr),
          "copy to the device");
  }

  // None for what OpenCL does not tell.
  static ffi::Any Attribute(const Device& device, DeviceAttrKind kind) {
    using namespace tvm::runtime;
    const auto number = [](auto value) { return ffi::Any(static_cast<int64_t>(value)); };
    switch (kind) {
      case kMaxThreadsPerBlock: return number(device.Get<size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE));
      case kMaxThreadDimensions: return ffi::String(AsJson(device.MaxGroup()));
      case kMaxSharedMemoryPerBlock: return number(device.Get<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE));
      case kWarpSize: return number(1);  // what code may rely on: OpenCL has no lock step
      case kDeviceName: return ffi::String(device.name);
      case kComputeVersion: return ffi::String(ComputeVersion(device));
      case kApiVersion: return ffi::String(device.GetText(CL_DEVICE_VERSION));
      case kDriverVersion: return ffi::String(device.GetText(CL_DRIVER_VERSION));
      case kMaxClockRate: return number(device.Get<cl_uint>(CL_DEVICE_MAX_CLOCK_FREQUENCY) * int64_t{1000});  // kHz
      case kMultiProcessorCount: return number(device.Get<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS));
      case kL2CacheSizeBytes: return number(device.Get<cl_ulong>(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE));
      case kTotalGlobalMemory: return number(device.Get<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE));
      default: return nullptr;
    }
  }
};

}  // namespace

DeviceAPI* TheDeviceAPI() {
  static auto* const api = new OpenCLDeviceAPI();
  return api;
}

ffi::Array<ffi::Map<ffi::String, ffi::Any>> DescribeDevices() {
  ffi::Array<ffi::Map<ffi::String, ffi::Any>> described;
  const Devices& all = Devices::Get();
  for (size_t i = 0; i < all.size(); ++i) {
    const Device& device = all.at(static_cast<int>(i));
    described.push_back({{"name", ffi::String(device.name)},
                         {"platform", ffi::String(device.platform)},
                         {"version", ffi::String(device.GetText(CL_DEVICE_VERSION))},
                         {"driver", ffi::String(device.GetText(CL_DRIVER_VERSION))},
                         {"memory_bytes", static_cast<int64_t>(device.Get<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE))},
                         {"fp16", device.Has("cl_khr_fp16")}});
  }
  return described;
}

}  // namespace deltann::opencl
