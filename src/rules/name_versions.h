// Since when and until when the names are there that advice has people type: flags, calls, keys of configurations.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace whyoom {

struct NameVersions {
  // The name as it is typed, without what stands around it: "xla_tpu_scoped_vmem_limit_kib"; of an argument with what
  // it is given to: "jax.jit(compiler_options=)".
  std::string id;
  std::string package;  // whose releases these are: "libtpu"
  std::string since;    // the first release that has it; empty: none is known that has not
  std::string until;    // the last one; empty: none is known that has it no more

  // The fact that tells a log's release of the package: "libtpu_version".
  std::string VersionFact() const;
  // Whether a release has the name, as far as is known; nullopt where `version` is no version.
  std::optional<bool> HoldIn(std::string_view version) const;
};

// Below 0, 0, above 0: dotted numbers, "0.9" before "0.10.2". What follows them (".dev2026", "rc1", "+local") does not
// count, and what one has fewer are zeros. nullopt where one does not begin with a number.
std::optional<int> CompareVersions(std::string_view one, std::string_view other);

// Whether a text holds a name, such as NameVersions::id, as a whole word; an argument behind what it is given to.
bool HoldsName(std::string_view text, std::string_view name);

}  // namespace whyoom
