// What TVM's compiler hands over for OpenCL: source code, and how each kernel in it is called.
#pragma once

#include <dlpack/dlpack.h>

#include <string>
#include <string_view>
#include <vector>

namespace deltann::opencl {

/// How TVM calls a kernel: first its arguments, then one integer for each launch tag ("blockIdx.x", "threadIdx.y", …).
struct KernelSignature {
  std::string symbol;  // that TVM looks it up by
  std::string name;    // in the source
  std::vector<DLDataType> arguments;
  std::vector<std::string> launch_tags;
  std::vector<int32_t> extra_tags;
};

struct KernelSet {
  std::string format;
  std::vector<KernelSignature> kernels;  // in TVM's order, so that bytes read and written again are the same
  std::string code;

  const KernelSignature* Find(std::string_view symbol) const;
  /// The bytes that TVM 0.27 keeps in an exported library.
  std::string ToBytes() const;
  /// Throws where the bytes are cut short or no such set.
  static KernelSet FromBytes(std::string_view bytes);
};

}  // namespace deltann::opencl
