/* Conversions: op_astype_<from>_<to>. 64-bit elements are in the wide types wi64 and wf64, which have as many lanes as
 * vf32. Loads convert float16 to float32, and stores convert it back. Conversions to float16 round once: integers
 * within its range are exact in float32, and float64 is first rounded to odd. */
#pragma once

#include "simd/simd.h"

INLINE vi32 op_astype_bool_int32(vm32 x) { return vm32_to_vi32(x); }
INLINE wi64 op_astype_bool_int64(vm32 x) { return vi32_to_wi64(vm32_to_vi32(x)); }
INLINE vf32 op_astype_bool_float16(vm32 x) { return vi32_to_vf32(vm32_to_vi32(x)); }
INLINE vf32 op_astype_bool_float32(vm32 x) { return vi32_to_vf32(vm32_to_vi32(x)); }
INLINE wf64 op_astype_bool_float64(vm32 x) { return vi32_to_wf64(vm32_to_vi32(x)); }

INLINE vm32 op_astype_int32_bool(vi32 x) { return vi32_ne(x, vi32_set(0)); }
INLINE wi64 op_astype_int32_int64(vi32 x) { return vi32_to_wi64(x); }
INLINE vf32 op_astype_int32_float16(vi32 x) { return vi32_to_vf32(x); }
INLINE vf32 op_astype_int32_float32(vi32 x) { return vi32_to_vf32(x); }
INLINE wf64 op_astype_int32_float64(vi32 x) { return vi32_to_wf64(x); }

INLINE vm32 op_astype_int64_bool(wi64 x) { return wm64_to_vm32(wi64_ne(x, wi64_set(0))); }
INLINE vi32 op_astype_int64_int32(wi64 x) { return wi64_to_vi32(x); }
INLINE vf32 op_astype_int64_float16(wi64 x) { return wi64_to_vf32(x); }
INLINE vf32 op_astype_int64_float32(wi64 x) { return wi64_to_vf32(x); }
INLINE wf64 op_astype_int64_float64(wi64 x) { return wi64_to_wf64(x); }

INLINE vm32 op_astype_float16_bool(vf32 x) { return vf32_ne(x, vf32_set(0)); }
INLINE vi32 op_astype_float16_int32(vf32 x) { return vf32_to_vi32(x); }
INLINE wi64 op_astype_float16_int64(vf32 x) { return vf32_to_wi64(x); }
INLINE vf32 op_astype_float16_float32(vf32 x) { return x; }
INLINE wf64 op_astype_float16_float64(vf32 x) { return vf32_to_wf64(x); }

INLINE vm32 op_astype_float32_bool(vf32 x) { return vf32_ne(x, vf32_set(0)); }
INLINE vi32 op_astype_float32_int32(vf32 x) { return vf32_to_vi32(x); }
INLINE wi64 op_astype_float32_int64(vf32 x) { return vf32_to_wi64(x); }
INLINE vf32 op_astype_float32_float16(vf32 x) { return x; }
INLINE wf64 op_astype_float32_float64(vf32 x) { return vf32_to_wf64(x); }

INLINE vm32 op_astype_float64_bool(wf64 x) { return wm64_to_vm32(wf64_ne(x, wf64_set(0))); }
INLINE vi32 op_astype_float64_int32(wf64 x) { return wf64_to_vi32(x); }
INLINE wi64 op_astype_float64_int64(wf64 x) { return wf64_to_wi64(x); }
INLINE vf32 op_astype_float64_float16(wf64 x) { return wf64_to_vf32_odd(x); }
INLINE vf32 op_astype_float64_float32(wf64 x) { return wf64_to_vf32(x); }
