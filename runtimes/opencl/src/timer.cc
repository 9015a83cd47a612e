// TVM's timer for OpenCL: the device's own clock, read at markers in its queue.
#include "timer.h"

#include <chrono>
#include <optional>
#include <utility>

#include "devices.h"
#include "error.h"

namespace deltann::opencl {
namespace {

using Clock = std::chrono::steady_clock;

// Some drivers do not time markers: then the host's clock counts, between one finished queue and the next.
class OpenCLTimer final : public tvm::runtime::TimerNode {
 public:
  explicit OpenCLTimer(int device) : queue_(Devices::Get().at(device).queue.get()) {}

  void Start() final {
    Check(clFinish(queue_), "finish the work before a measurement");
    host_start_ = Clock::now();
    start_ = Mark();
  }

  void Stop() final { stop_ = Mark(); }

  int64_t SyncAndGetElapsedNanos() final {
    Check(clFinish(queue_), "finish the work that is measured");
    const auto host_stop = Clock::now();
    const auto began = EndOf(start_), ended = EndOf(stop_);
    if (began && ended && *ended >= *began) return static_cast<int64_t>(*ended - *began);
    return std::chrono::duration_cast<std::chrono::nanoseconds>(host_stop - host_start_).count();
  }

  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("deltann.OpenCLTimer", OpenCLTimer, tvm::runtime::TimerNode);

 private:
  Event Mark() {
    cl_event event = nullptr;
    Check(clEnqueueMarkerWithWaitList(queue_, 0, nullptr, &event), "put a marker into the queue");
    return Event(event);
  }

  static std::optional<cl_ulong> EndOf(const Event& event) {
    cl_ulong nanoseconds = 0;
    const cl_int status =
        clGetEventProfilingInfo(event.get(), CL_PROFILING_COMMAND_END, sizeof(nanoseconds), &nanoseconds, nullptr);
    return status == CL_SUCCESS && nanoseconds != 0 ? std::optional(nanoseconds) : std::nullopt;
  }

  cl_command_queue queue_;
  Clock::time_point host_start_;
  Event start_, stop_;
};

}  // namespace

tvm::runtime::Timer MakeTimer(DLDevice device) {
  return tvm::runtime::Timer(tvm::ffi::make_object<OpenCLTimer>(device.device_id));
}

}  // namespace deltann::opencl
