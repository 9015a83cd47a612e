"""The two headers of libcu++ that TVM's kernels include, as far as TVM uses them.

The libraries of NVRTC bring no headers, and the whole of libcu++ is a package of its own; what TVM's prelude names of
it is the integers of fixed width and a few traits of types. Written after the C++ standard's <cstdint> and
<type_traits>, for the 64-bit targets that CUDA has.
"""

from __future__ import annotations

_CSTDINT = """
namespace cuda { namespace std {
using int8_t = signed char;     using uint8_t = unsigned char;
using int16_t = short;          using uint16_t = unsigned short;
using int32_t = int;            using uint32_t = unsigned int;
using int64_t = long;           using uint64_t = unsigned long;
} }
"""

_TYPE_TRAITS = """
namespace cuda { namespace std {
template <bool B> struct bool_constant { static constexpr bool value = B; };
template <class T, class U> struct is_same : bool_constant<false> {};
template <class T> struct is_same<T, T> : bool_constant<true> {};
template <class T, class U> inline constexpr bool is_same_v = is_same<T, U>::value;

template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool B, class T, class F> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };

template <class T> struct is_floating_point
    : bool_constant<is_same_v<T, float> || is_same_v<T, double> || is_same_v<T, long double>> {};
template <class T> struct is_integral
    : bool_constant<is_same_v<T, bool> || is_same_v<T, char> || is_same_v<T, signed char> ||
                    is_same_v<T, unsigned char> || is_same_v<T, wchar_t> || is_same_v<T, short> ||
                    is_same_v<T, unsigned short> || is_same_v<T, int> || is_same_v<T, unsigned int> ||
                    is_same_v<T, long> || is_same_v<T, unsigned long> || is_same_v<T, long long> ||
                    is_same_v<T, unsigned long long>> {};
template <class T, bool = is_integral<T>::value> struct is_signed : is_floating_point<T> {};
template <class T> struct is_signed<T, true> : bool_constant<(T(-1) < T(0))> {};
template <class T> struct is_unsigned : bool_constant<is_integral<T>::value && !is_signed<T>::value> {};
} }
"""

HEADERS = {"cuda/std/cstdint": _CSTDINT, "cuda/std/type_traits": _TYPE_TRAITS}
"""Text of each header by the name it is included by."""
