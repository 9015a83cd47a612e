#include "devices.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "error.h"

namespace deltann::opencl {
namespace {

constexpr const char* kChoice = "DELTANN_OPENCL_DEVICES";

struct Found {
  cl_platform_id platform;
  cl_device_id device;
  std::string label;  // "platform / device"
};

// Reads a text property by one of OpenCL's clGet…Info functions.
template <typename Getter, typename Handle>
std::string Text(Getter get, Handle handle, cl_uint what) {
  size_t size = 0;
  Check(get(handle, what, 0, nullptr, &size), "tell the size of a property");
  std::string text(size, '\0');
  Check(get(handle, what, size, text.data(), nullptr), "tell a property");
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

std::vector<cl_platform_id> Platforms() {
  cl_uint count = 0;
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return {};
  std::vector<cl_platform_id> platforms(count);
  Check(clGetPlatformIDs(count, platforms.data(), nullptr), "list its platforms");
  return platforms;
}

std::vector<cl_device_id> DevicesOf(cl_platform_id platform, cl_device_type type) {
  cl_uint count = 0;
  if (clGetDeviceIDs(platform, type, 0, nullptr, &count) != CL_SUCCESS || count == 0) return {};
  std::vector<cl_device_id> devices(count);
  Check(clGetDeviceIDs(platform, type, count, devices.data(), nullptr), "list the devices of a platform");
  return devices;
}

std::vector<Found> Discover() {
  std::vector<Found> found;
  const auto platforms = Platforms();
  for (cl_device_type type : {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU}) {
    for (cl_platform_id platform : platforms) {
      const std::string name = Text(clGetPlatformInfo, platform, CL_PLATFORM_NAME);
      for (cl_device_id device : DevicesOf(platform, type)) {
        found.push_back({platform, device, name + " / " + Text(clGetDeviceInfo, device, CL_DEVICE_NAME)});
      }
    }
  }
  return found;
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string Trim(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool Names(const std::string& wanted, const Found& found, size_t index) {
  const bool number = std::all_of(wanted.begin(), wanted.end(), [](unsigned char c) { return std::isdigit(c); });
  return number ? wanted == std::to_string(index) : Lower(found.label).find(Lower(wanted)) != std::string::npos;
}

std::string Labels(const std::vector<Found>& found) {
  std::string labels;
  for (size_t i = 0; i < found.size(); ++i) labels += (i ? "; " : "") + std::to_string(i) + ": " + found[i].label;
  return labels;
}

// What `choice` names of what was found; where it names something that is not there, `trouble` says so.
std::vector<Found> Choose(const std::vector<Found>& found, const std::string& choice, std::string& trouble) {
  std::vector<Found> chosen;
  std::istringstream parts(choice);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::string wanted = Trim(part);
    if (wanted.empty()) continue;
    bool any = false;
    for (size_t i = 0; i < found.size(); ++i) {
      if (!Names(wanted, found[i], i)) continue;
      any = true;
      const auto same = [&](const Found& one) { return one.device == found[i].device; };
      if (std::none_of(chosen.begin(), chosen.end(), same)) chosen.push_back(found[i]);
    }
    if (!any) {
      trouble = std::string(kChoice) + " names " + wanted + ", and no OpenCL device of this host is called so (" +
                Labels(found) + "). Give an index or a part of a name from this list.";
      return {};
    }
  }
  return chosen;
}

Device Open(const Found& found) {
  cl_int status = CL_SUCCESS;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(found.platform), 0};
  Context context(clCreateContext(properties, 1, &found.device, nullptr, nullptr, &status));
  Check(status, ("make a context on " + found.label).c_str());
  Queue queue(clCreateCommandQueue(context.get(), found.device, CL_QUEUE_PROFILING_ENABLE, &status));
  Check(status, ("make a queue on " + found.label).c_str());
  return {found.device,
          Text(clGetDeviceInfo, found.device, CL_DEVICE_NAME),
          Text(clGetPlatformInfo, found.platform, CL_PLATFORM_NAME),
          " " + Text(clGetDeviceInfo, found.device, CL_DEVICE_EXTENSIONS) + " ",
          std::move(context),
          std::move(queue)};
}

}  // namespace

bool Device::Has(const std::string& extension) const {
  return extensions.find(" " + extension + " ") != std::string::npos;
}

void Device::Read(cl_device_info what, size_t size, void* value) const {
  Check(clGetDeviceInfo(id, what, size, value, nullptr), "tell a property of the device");
}

std::string Device::GetText(cl_device_info what) const { return Text(clGetDeviceInfo, id, what); }

std::vector<size_t> Device::MaxGroup() const {
  std::vector<size_t> sizes(Get<cl_uint>(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS), 1);
  Read(CL_DEVICE_MAX_WORK_ITEM_SIZES, sizes.size() * sizeof(size_t), sizes.data());
  sizes.resize(3, 1);
  return sizes;
}

Devices& Devices::Get() {
  static auto* const all = new Devices();
  return *all;
}

Devices::Devices() {
  auto found = Discover();
  if (found.empty()) {
    none_because_ =
        "This host has no OpenCL device: no driver (ICD) is registered in /etc/OpenCL/vendors, or none of them has a "
        "device. Install the driver of the device (for the CPU alone: Debian's pocl-opencl-icd); clinfo -l lists what "
        "there is.";
  } else if (const char* choice = std::getenv(kChoice); choice != nullptr && !Trim(choice).empty()) {
    found = Choose(found, choice, none_because_);
  }
  for (const Found& one : found) devices_.push_back(Open(one));
}

const Device& Devices::at(int index) const {
  if (Exists(index)) return devices_[static_cast<size_t>(index)];
  if (devices_.empty()) Fail(none_because_);
  std::string names;
  for (const Device& device : devices_) names += (names.empty() ? "" : ", ") + device.name;
  Fail("There is no device opencl:" + std::to_string(index) + ": this host has " + std::to_string(devices_.size()) +
       " (" + names + "), counted from 0.");
}

int& CurrentDevice() {
  thread_local int index = 0;
  return index;
}

}  // namespace deltann::opencl
