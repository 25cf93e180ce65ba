// What was changed between two programs, told from hand-written modules as they stand before optimization.
#include "compare/difference.h"

#include <memory>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"

using namespace whyoom;

namespace TEST_FILE {

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::unique_ptr<Written> Read(const std::string& text) {
  return std::make_unique<Written>(ReadHlo(*OpenMemory(text)), BuiltInRules().role_words());
}

// "half_batch 64>32", one after another.
std::string Found(const std::string& before, const std::string& after) {
  std::string list;
  for (const Difference& difference : FindDifferences(*Read(before), *Read(after))) {
    list += (list.empty() ? "" : "; ") + (difference.change.empty() ? "?" : difference.change);
    if (difference.from && difference.to)
      list += " " + std::to_string(*difference.from) + ">" + std::to_string(*difference.to);
    if (difference.undone) list += " undone";
  }
  return list;
}

std::string Module(const std::string& head, const std::string& body) {
  return "HloModule jit_step" + head + "\n\nENTRY %main.1 {\n" + body + "}\n";
}

// A layer of 64 examples, 1024 positions and 2048 features.
const std::string kLayer =
    "  %x.1 = f32[64,1024,2048]{2,1,0} parameter(0), metadata={op_name=\"batch[\\'x\\']\"}\n"
    "  %w.1 = f32[2048,8192]{1,0} parameter(1), metadata={op_name=\"params[\\'w\\']\"}\n"
    "  ROOT %dot.1 = f32[64,1024,8192]{2,1,0} dot(%x.1, %w.1), lhs_contracting_dims={2}, rhs_contracting_dims={0}, "
    "metadata={op_name=\"jit(step)/jvp(mlp)/dot_general\"}\n";

TEST_CASE("nothing is named where nothing was changed", "[compare][diff]") {
  CHECK(Found(Module("", kLayer), Module("", kLayer)).empty());
}

TEST_CASE("what got shorter has its name, or none", "[compare][diff]") {
  const std::string before = Module("", kLayer);
  CHECK(Found(before, Replaced(before, "64,1024", "48,1024")) == "half_batch 64>48");
  CHECK(Found(before, Replaced(before, "64,1024", "96,1024")) == "half_batch 64>96 undone");
  CHECK(Found(before, Replaced(before, "8192", "4096")) == "smaller_model 8192>4096");
  CHECK(Found(before, Replaced(before, "8192", "8320")) == "smaller_model 8192>8320 undone");
  // Rounded up to whole tiles.
  CHECK(Found(Replaced(before, "8192", "8190"), before) == "no_tiny_dimensions 8190>8192");
}

TEST_CASE("arguments that are given away, narrower, or split", "[compare][diff]") {
  const std::string before = Module("", kLayer);
  CHECK(Found(before, Module(", input_output_alias={ {}: (1, {}, may-alias) }", kLayer)) == "donate");
  CHECK(Found(Module(", buffer_donor={ (1, {}) }", kLayer), before) == "donate undone");
  CHECK(Found(before, Replaced(before, "f32[", "bf16[")) == "bfloat16");
  CHECK(Found(Replaced(before, "f32[", "bf16["), before) == "bfloat16 undone");
  const std::string split =
      Replaced(Module(", num_partitions=4", kLayer), "parameter(0),", "parameter(0), sharding={devices=[4,1,1]<=[4]},");
  CHECK(Found(before, split) == "shard 1>4");
  CHECK(Found(split, before) == "shard 4>1 undone");
}

TEST_CASE("debug prints that are gone", "[compare][diff]") {
  const std::string sends =
      "  %token.1 = token[] after-all()\n"
      "  %send.1 = (f32[2048,8192]{1,0}, u32[], token[]) send(%w.1, %token.1), channel_id=1, is_host_transfer=true\n";
  const std::string with = Replaced(kLayer, "  ROOT", sends + "  ROOT");
  CHECK(Found(Module("", with), Module("", kLayer)) == "no_host_transfer");
  CHECK(Found(Module("", kLayer), Module("", with)) == "no_host_transfer undone");
}

TEST_CASE("layers that are computed again in the backward pass", "[compare][diff]") {
  const std::string again =
      "  %dot.2 = f32[64,1024,8192]{2,1,0} dot(%x.1, %w.1), lhs_contracting_dims={2}, rhs_contracting_dims={0}, "
      "metadata={op_name=\"jit(step)/transpose(jvp(mlp))/checkpoint/rematted_computation/dot_general\"}\n";
  const std::string with = Replaced(kLayer, "  ROOT", again + "  ROOT");
  CHECK(Found(Module("", kLayer), Module("", with)) == "recompute_layers");
  CHECK(Found(Module("", with), Module("", kLayer)) == "recompute_layers undone");
}

TEST_CASE("labels that are numbers now", "[compare][diff]") {
  const std::string rest =
      "  %labels.1 = s32[64,1024]{1,0} parameter(2), metadata={op_name=\"batch[\\'labels\\']\"}\n"
      "  %zero.1 = f32[] constant(0)\n"
      "  %top.1 = f32[64,1024]{1,0} reduce(%dot.1, %zero.1), dimensions={2}, to_apply=%max.1, "
      "metadata={op_name=\"jit(step)/jvp(loss)/reduce_max\"}\n";
  const std::string one_hot =
      "  %hot.1 = f32[64,1024,8192]{2,1,0} add(%dot.1, %dot.1), metadata={op_name=\"jit(step)/jit(_one_hot)/eq\"}\n";
  const auto module = [&](const std::string& more) {
    return "HloModule jit_step\n\n%max.1 (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n"
           "  %b = f32[] parameter(1)\n  ROOT %m = f32[] maximum(%a, %b)\n}\n\nENTRY %main.1 {\n" +
           Replaced(kLayer, "  ROOT", "  ") + rest + more + "}\n";
  };
  CHECK(Found(module(one_hot), module("")) == "labels_as_numbers");
}

}  // namespace TEST_FILE
