// Releases of packages that have the names used in advice.
#include "catch.h"
#include "rules/rule_set.h"
#include "unit/rules/rule_data.h"

using namespace whyoom;

TEST_CASE("versions are compared number by number", "[rules]") {
  CHECK(CompareVersions("0.9.2", "0.10.0") == -1);
  CHECK(CompareVersions("0.10.0", "0.9.2") == 1);
  CHECK(CompareVersions("0.10", "0.10.0") == 0);
  CHECK(CompareVersions("0.0.24", "0.0.24.1") == -1);
  CHECK(CompareVersions("0.4.35.dev20241101", "0.4.35") == 0);
  CHECK(CompareVersions("0.7.0rc1", "0.7.0") == 0);
  CHECK(CompareVersions("1", "0.99") == 1);
  CHECK_FALSE(CompareVersions("", "0.1"));
  CHECK_FALSE(CompareVersions("0.1", "head"));
  CHECK(CompareVersions("0.99999999999999999999", "0.1") == -1);  // a number that overflows ends the version
}

TEST_CASE("only whole words count as names", "[rules]") {
  CHECK(ContainsName("--xla_tpu_x=true", "xla_tpu_x"));
  CHECK(ContainsName("jax.memory.Space.Host", "jax.memory.Space"));
  CHECK(ContainsName("xla_tpu_xy and xla_tpu_x", "xla_tpu_x"));
  CHECK_FALSE(ContainsName("xla_tpu_xy", "xla_tpu_x"));
  CHECK_FALSE(ContainsName("my_xla_tpu_x", "xla_tpu_x"));
  CHECK_FALSE(ContainsName("", "x"));
  CHECK(ContainsName("jax.jit(step, compiler_options={}).", "jax.jit(compiler_options=)"));
  CHECK(ContainsName("jax.jit(f)(compiler_options), or compiler_options=o", "jax.jit(compiler_options=)"));
  CHECK_FALSE(ContainsName("jax.jit(step)", "jax.jit(compiler_options=)"));
  CHECK_FALSE(ContainsName("compiler_options={} of jax.jit", "jax.jit(compiler_options=)"));
}

TEST_CASE("a name exists from its first release to its last", "[rules]") {
  const NameVersions both{"f", "torch-xla", "2.1", "2.5.0"};
  CHECK(both.VersionFact() == "torch_xla_version");
  CHECK(both.ExistsIn("2.0.9") == false);
  CHECK(both.ExistsIn("2.1.0") == true);
  CHECK(both.ExistsIn("2.5") == true);
  CHECK(both.ExistsIn("2.5.1") == false);
  CHECK_FALSE(both.ExistsIn("nightly"));
  CHECK(NameVersions{"f", "jax", "0.7.0", ""}.ExistsIn("9.0") == true);
  CHECK(NameVersions{"f", "jax", "", "0.7.0"}.ExistsIn("0.1") == true);
}

TEST_CASE("entries of versions are checked", "[rules]") {
  const auto faults = [](const std::string& entry) {
    RuleSet set;
    return Load({BaseRules()}, {{"a.json", R"({"format": "whyoom.rules/1", "versions": [)" + entry + "]}"}}, &set);
  };
  CHECK(faults(R"({"id": "xla_f", "package": "libtpu", "since": "0.0.9", "until": "0.0.24"})") == "");
  CHECK(faults(R"({"id": "xla_f", "package": "libtpu"})").find("both 'since' and 'until' are missing") !=
        std::string::npos);
  CHECK(faults(R"({"id": "xla_f", "package": "libtpu", "since": "0.0.10", "until": "0.0.9"})")
            .find("precedes 'since', 0.0.10") != std::string::npos);
  CHECK(faults(R"({"id": "xla_f", "package": "libtpu", "since": "next"})").find("'next' does not match") !=
        std::string::npos);
}
