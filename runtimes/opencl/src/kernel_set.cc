// The byte layout is that of TVM 0.27, on a little-endian host: unsigned 64-bit lengths, each before what it counts.
//
//   format, number of kernels, then for each kernel: symbol, name, arguments (code: 1 byte, bits: 1, lanes: 2),
//   launch tags, extra tags (4 bytes each); and the code at the end.
#include "kernel_set.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "error.h"

static_assert(std::endian::native == std::endian::little, "TVM's exported modules are little-endian");

namespace deltann::opencl {
namespace {

class Writer {
 public:
  template <typename Value>
  void Put(Value value) {
    static_assert(std::is_arithmetic_v<Value>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void Put(const std::string& text) {
    Put(uint64_t{text.size()});
    bytes_ += text;
  }
  void Put(DLDataType type) {
    Put(type.code);
    Put(type.bits);
    Put(type.lanes);
  }
  template <typename Element>
  void Put(const std::vector<Element>& elements) {
    Put(uint64_t{elements.size()});
    for (const Element& element : elements) Put(element);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <typename Value>
  void Get(Value& value) {
    static_assert(std::is_arithmetic_v<Value>);
    std::memcpy(&value, Next(sizeof(value)).data(), sizeof(value));
  }
  void Get(std::string& text) { text = Next(Count()); }
  void Get(DLDataType& type) {
    Get(type.code);
    Get(type.bits);
    Get(type.lanes);
  }
  template <typename Element>
  void Get(std::vector<Element>& elements) {
    elements.resize(Count());
    for (Element& element : elements) Get(element);
  }
  // Nothing counted takes less than a byte, so a larger count is a lie that must not become an allocation.
  size_t Count() {
    uint64_t count = 0;
    Get(count);
    if (count > rest_.size()) Short();
    return count;
  }
  bool done() const { return rest_.empty(); }

 private:
  [[noreturn]] static void Short() {
    Fail("The OpenCL part of this module is cut short or damaged: fetch or compile it again.");
  }
  std::string_view Next(size_t size) {
    if (size > rest_.size()) Short();
    const auto next = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return next;
  }

  std::string_view rest_;
};

}  // namespace

const KernelSignature* KernelSet::Find(std::string_view symbol) const {
  for (const KernelSignature& kernel : kernels) {
    if (kernel.symbol == symbol) return &kernel;
  }
  return nullptr;
}

std::string KernelSet::ToBytes() const {
  Writer writer;
  writer.Put(format);
  writer.Put(uint64_t{kernels.size()});
  for (const KernelSignature& kernel : kernels) {
    writer.Put(kernel.symbol);
    writer.Put(kernel.name);
    writer.Put(kernel.arguments);
    writer.Put(kernel.launch_tags);
    writer.Put(kernel.extra_tags);
  }
  writer.Put(code);
  return writer.Take();
}

KernelSet KernelSet::FromBytes(std::string_view bytes) {
  Reader reader(bytes);
  KernelSet set;
  reader.Get(set.format);
  set.kernels.resize(reader.Count());
  for (KernelSignature& kernel : set.kernels) {
    reader.Get(kernel.symbol);
    reader.Get(kernel.name);
    reader.Get(kernel.arguments);
    reader.Get(kernel.launch_tags);
    reader.Get(kernel.extra_tags);
  }
  reader.Get(set.code);
  if (!reader.done()) {
    Fail("The OpenCL part of this module has bytes behind its end: it was written by another version of TVM. "
         "Compile it with the version that runs it.");
  }
  return set;
}

}  // namespace deltann::opencl
