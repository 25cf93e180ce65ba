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

bool ContainsPart(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return ContainsPart(text, part); });
}

// Whether the text contains `word` as a whole word: a scope that the user named load_checkpoint is not a checkpoint.
bool ContainsWord(std::string_view text, std::string_view word) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return true;
  }
  return false;
}

}  // namespace

bool IsInGradient(std::string_view op_name) {
  return ContainsAny(op_name, {kDifferentiated, kTransposed, "rematted", "gradients/", "backward"}) ||
         ContainsWord(op_name, kCheckpoint);
}

bool IsDifferentiated(std::string_view op_name) { return ContainsPart(op_name, kDifferentiated); }

bool IsTransposed(std::string_view op_name) { return ContainsPart(op_name, kTransposed); }

bool IsGradient(std::string_view op_name) { return ContainsPart(op_name, "transpose(jvp"); }

bool IsInCheckpoint(std::string_view op_name) {
  return ContainsWord(op_name, kCheckpoint) || ContainsPart(op_name, "rematted");
}

bool IsRecomputedLoop(std::string_view op_name) {
  const std::size_t recomputed = op_name.find(kRecomputed);
  return recomputed != std::string_view::npos && op_name.find("while/body") > recomputed;
}

bool IsMapped(std::string_view op_name) { return ContainsPart(op_name, kMapped); }

bool IsInShardMap(std::string_view op_name) {
  return ContainsWord(op_name, "shard_map") || ContainsWord(op_name, "shmap_body");
}

bool IsAttention(std::string_view op_name) {
  return ContainsAny(op_name, {"attention", "Attention", "attn", "Attn", "qk,", "hqk", "bqk", "->qk"});
}

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
         ContainsPart(part, "->");  // an einsum's equation
}

}  // namespace whyoom
