#include "facts/op_name.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

namespace whyoom {
namespace {

constexpr std::string_view kDifferentiated = "jvp(";
constexpr std::string_view kTransposed = "transpose(";
constexpr std::string_view kMapped = "vmap(";
constexpr std::string_view kRecomputed = "rematted_computation";
constexpr std::string_view kCheckpoint = "checkpoint";

bool Holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool HoldsAny(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return Holds(text, part); });
}

}  // namespace

bool IsInGradient(std::string_view op_name) {
  return HoldsAny(op_name, {kDifferentiated, kTransposed, "rematted", kCheckpoint, "gradients/", "backward"});
}

bool IsDifferentiated(std::string_view op_name) { return Holds(op_name, kDifferentiated); }

bool IsTransposed(std::string_view op_name) { return Holds(op_name, kTransposed); }

bool IsGradient(std::string_view op_name) { return Holds(op_name, "transpose(jvp"); }

bool IsRematted(std::string_view op_name) { return HoldsAny(op_name, {kCheckpoint, "rematted"}); }

bool IsRecomputed(std::string_view op_name) { return Holds(op_name, kRecomputed); }

bool IsMapped(std::string_view op_name) { return Holds(op_name, kMapped); }

bool IsOneHot(std::string_view op_name) { return Holds(op_name, "one_hot"); }

std::string WithoutCheckpoints(std::string op_name) {
  for (const std::string_view part : {kRecomputed, kCheckpoint}) {
    const std::string wrap = std::string(part) + "/";
    for (std::size_t at = op_name.find(wrap); at != std::string::npos; at = op_name.find(wrap))
      op_name.erase(at, wrap.size());
  }
  return op_name;
}

std::string_view WithoutWrappers(std::string_view part) {
  for (bool inside = true; inside;) {
    inside = false;
    for (const std::string_view wrapper : {kDifferentiated, kTransposed, kMapped}) {
      if (!part.starts_with(wrapper) || !part.ends_with(')')) continue;
      part = part.substr(wrapper.size(), part.size() - wrapper.size() - 1);
      inside = true;
    }
  }
  return part;
}

bool IsWrapper(std::string_view part) {
  static constexpr std::string_view kWrappers[] = {"while",     "body",  "cond",       "closed_call",
                                                   kCheckpoint, "remat", "eval_jaxpr", ""};
  return std::find(std::begin(kWrappers), std::end(kWrappers), part) != std::end(kWrappers) ||
         Holds(part, "->");  // an einsum's
}

}  // namespace whyoom
