// Op names as frameworks write them: "jit(step)/transpose(jvp(loss))/rematted_computation/mul". Differentiation, vmap
// and checkpointing wrap words around the user's names.
#pragma once

#include <string_view>

namespace whyoom {

inline bool Mentions(std::string_view op_name, std::string_view part) {
  return op_name.find(part) != std::string_view::npos;
}

inline bool IsDifferentiated(std::string_view op_name) { return Mentions(op_name, "jvp("); }
// Part of a transposed linear function: mostly the backward pass.
inline bool IsTransposed(std::string_view op_name) { return Mentions(op_name, "transpose("); }
// The backward pass of reverse-mode differentiation.
inline bool IsGradient(std::string_view op_name) { return Mentions(op_name, "transpose(jvp"); }

inline bool IsMapped(std::string_view op_name) { return Mentions(op_name, "vmap("); }

}  // namespace whyoom
