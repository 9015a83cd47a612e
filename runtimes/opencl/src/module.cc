#include "module.h"

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/dtype.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/reflection/accessor.h>

#include <memory>

#include "error.h"
#include "program.h"

namespace deltann::opencl {
namespace {

// Where the value of a launch tag goes.
struct Axis {
  size_t (Grid::*sizes)[3];
  int index;
};

Axis AxisOf(const std::string& tag, const std::string& kernel) {
  for (const auto& [prefix, sizes] : {std::pair{"blockIdx.", &Grid::groups}, std::pair{"threadIdx.", &Grid::group}}) {
    if (!tag.starts_with(prefix)) continue;
    const std::string axis = tag.substr(std::string_view(prefix).size());
    if (axis.size() == 1 && axis[0] >= 'x' && axis[0] <= 'z') return {sizes, axis[0] - 'x'};
  }
  Fail("The kernel " + kernel + " is launched with " + tag + ", which OpenCL has nothing like.");
}

template <typename Value>
void SetArgument(cl_kernel kernel, cl_uint index, Value value) {
  Check(clSetKernelArg(kernel, index, sizeof(value), &value), "set an argument of a kernel");
}

void SetArgument(cl_kernel kernel, cl_uint index, DLDataType type, const ffi::AnyView& value) {
  const bool integer = type.code == kDLInt || type.code == kDLUInt || type.code == kDLBool;
  if (type.code == kDLOpaqueHandle) return SetArgument(kernel, index, static_cast<cl_mem>(value.cast<void*>()));
  if (type.lanes == 1 && integer) {
    const auto number = value.cast<int64_t>();
    switch (type.bits) {
      case 1:
      case 8: return SetArgument(kernel, index, static_cast<cl_char>(number));
      case 16: return SetArgument(kernel, index, static_cast<cl_short>(number));
      case 32: return SetArgument(kernel, index, static_cast<cl_int>(number));
      case 64: return SetArgument(kernel, index, static_cast<cl_long>(number));
    }
  }
  if (type.lanes == 1 && type.code == kDLFloat) {
    const auto number = value.cast<double>();
    if (type.bits == 32) return SetArgument(kernel, index, static_cast<cl_float>(number));
    if (type.bits == 64) return SetArgument(kernel, index, static_cast<cl_double>(number));
  }
  Fail("An OpenCL kernel was given an argument of a type that this runtime does not pass by value.");
}

ffi::Function Launcher(std::shared_ptr<BuiltKernels> kernels, const KernelSignature& signature) {
  std::vector<Axis> axes;
  for (const std::string& tag : signature.launch_tags) axes.push_back(AxisOf(tag, signature.name));
  return ffi::Function::FromPacked([kernels, &signature, axes](ffi::PackedArgs given, ffi::Any*) {
    const size_t count = signature.arguments.size();
    if (static_cast<size_t>(given.size()) != count + axes.size()) {
      Fail("The kernel " + signature.name + " takes " + std::to_string(count + axes.size()) + " values and was given " +
           std::to_string(given.size()) + ".");
    }
    Grid grid;
    for (size_t i = 0; i < axes.size(); ++i) {
      (grid.*axes[i].sizes)[axes[i].index] = static_cast<size_t>(given[count + i].cast<int64_t>());
    }
    kernels->Launch(signature, grid, [&](cl_kernel kernel) {
      for (size_t i = 0; i < count; ++i) {
        SetArgument(kernel, static_cast<cl_uint>(i), signature.arguments[i], given[i]);
      }
    });
  });
}

class OpenCLModule final : public ffi::ModuleObj {
 public:
  explicit OpenCLModule(KernelSet set) : kernels_(std::make_shared<BuiltKernels>(std::move(set))) {}

  const char* kind() const final { return "opencl"; }
  int GetPropertyMask() const final { return ffi::Module::kBinarySerializable | ffi::Module::kRunnable; }

  // The function owns the kernels, and with them its signature: it may outlive this module.
  ffi::Optional<ffi::Function> GetFunction(const ffi::String& symbol) final {
    const KernelSignature* signature = kernels_->set().Find({symbol.data(), symbol.size()});
    if (signature == nullptr) return std::nullopt;
    return Launcher(kernels_, *signature);
  }

  ffi::Bytes SaveToBytes() const final { return ffi::Bytes(kernels_->set().ToBytes()); }
  ffi::String InspectSource(const ffi::String&) const final { return kernels_->set().code; }

 private:
  std::shared_ptr<BuiltKernels> kernels_;
};

// TVM's FunctionInfo has its header in no wheel: its fields are read by their registered names.
ffi::Any Field(const ffi::ObjectRef& function, const char* name) {
  return ffi::reflection::FieldGetter("runtime.FunctionInfo", name)(function);
}

}  // namespace

ffi::Module ModuleFromBytes(const ffi::Bytes& bytes) {
  return ffi::Module(ffi::make_object<OpenCLModule>(KernelSet::FromBytes({bytes.data(), bytes.size()})));
}

ffi::Module ModuleFromCompiler(const ffi::Bytes& code, const ffi::String& format,
                               const ffi::Map<ffi::String, ffi::ObjectRef>& functions,
                               const ffi::Map<ffi::String, ffi::Any>& /*sources*/) {
  KernelSet set{format, {}, std::string(code.data(), code.size())};
  for (const auto& [symbol, function] : functions) {
    KernelSignature kernel{symbol, Field(function, "name").cast<ffi::String>(), {}, {}, {}};
    for (DLDataType type : Field(function, "arg_types").cast<ffi::Array<DLDataType>>()) {
      kernel.arguments.push_back(type);
    }
    for (const auto& tag : Field(function, "launch_param_tags").cast<ffi::Array<ffi::String>>()) {
      kernel.launch_tags.push_back(tag);
    }
    for (int64_t tag : Field(function, "arg_extra_tags").cast<ffi::Array<int64_t>>()) {
      kernel.extra_tags.push_back(static_cast<int32_t>(tag));
    }
    set.kernels.push_back(std::move(kernel));
  }
  return ffi::Module(ffi::make_object<OpenCLModule>(std::move(set)));
}

}  // namespace deltann::opencl
