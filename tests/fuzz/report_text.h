// Generates logs from the output of compilers, runtimes and allocators: the examples of the rule data and parts of
// their reports, in any order, with any figures and prefixes, escaped or truncated.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/choices.h"
#include "fuzz/fuzz.h"

namespace whyoom {

// Placeholders in the parts: $s a size, $n a number, $d a shape, $t a text, $u a line break or a blank.
inline constexpr std::array kReportParts = {
    "Ran out of memory in memory space hbm. Used $s of $s hbm. Exceeded hbm capacity by $s.\n",
    "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm.$uUsed $s of $s hbm. "
    "Exceeded hbm capacity by $s.\n\n",
    "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom:\nXLA:TPU compile permanent error. Ran "
    "out of memory in memory space hbm. Used $s of $s hbm. Exceeded hbm capacity by $s.\n\n",
    "Ran out of memory in memory space vmem. Used $s of $s vmem. Exceeded vmem capacity by $s.\n",
    "Ran out of memory in memory space vmem while allocating on stack for %$t = $d fusion(%x.1), kind=kOutput. Scoped "
    "allocation with size $s and limit $s exceeded scoped vmem limit by $s.\n",
    "RESOURCE_EXHAUSTED: Allocation (size=$n) would exceed memory (size=$n) :: #allocation$n [shape = '$d', "
    "space=smem, size = 0x$n, scoped, tag = 'scratch operand'] :: $t\n",
    "XlaRuntimeError: RESOURCE_EXHAUSTED: TPU TensorCore Hbm usage: $s, SparseCore Hbm usage $s, exceeding available "
    "bytes: $s\n",
    "ValueError: RESOURCE_EXHAUSTED: E0100: RuntimeBufferAllocationFailure:\nError allocating device buffer: "
    "Attempting to allocate $s. That was not possible. There are $s free.; (0x$nx0_HBM0)\n",
    "Attempting to allocate $s. That was not possible. There are $s free. The largest contiguous region of free "
    "memory is $s due to fragmentation.; (0x0x0_HBM0): while running replica $n and partition $n\n",
    "RESOURCE_EXHAUSTED: E0101: RuntimeProgramAllocationFailure: Error loading program '$t': Attempting to reserve $s "
    "at the bottom of memory. That was not possible. There are $s free, $s reserved, and $s reservable. Scope: $t\n",
    "RuntimeError: Resource exhausted: Failed to allocate request for $s ($nB) on device ordinal $n\n",
    "RESOURCE_EXHAUSTED: Out of memory while trying to allocate $n bytes.\nBufferAssignment OOM Debugging.\n"
    "BufferAssignment stats:\n             parameter allocation:   $s\n              constant allocation:   $s\n       "
    " "
    "maybe_live_out allocation:   $s\n     preallocated temp allocation:   $s\n  preallocated temp fragmentation: $s "
    "($n%)\n                 total allocation:   $s\n              total fragmentation: $s ($n%)\n",
    "Peak buffers:\n\tBuffer $n:\n\t\tSize: $s\n\t\tOperator: op_name=\"$t\" source_file=\"$t\" source_line=$n\n"
    "\t\tEntry Parameter Subshape: $d\n\t\tXLA Label: fusion\n\t\tShape: $d\n\t\t==========================\n\n",
    "Total hbm usage >= $s:$u    reserved        $s $u    program         $s $u    arguments        $s $u\nOutput size "
    "$s; shares $s with arguments.\n\n",
    "Program hbm requirement $s:$u    reserved        $s$u    global    $s$u    scoped    $s$u    HLO temp        $s "
    "($n% utilization: Unpadded ($s) Padded ($s), $n% fragmentation ($s))$u    overlays    $s\n\n",
    "Program vmem requirement $s:\n    scoped           $s\n",
    "Heap allocator status:\n    heap allocations ($t)   $s\nPersistent allocations:\n    arguments $s\n    output "
    "$s\n",
    "  Largest program allocations in hbm:\n\n",
    "  Largest program allocations in vmem:\n\n",
    "  $n. Size: $s\n     Operator: op_type=\"$t\" op_name=\"$t\" source_file=\"$t\" source_line=$n\n     Shape: $d\n  "
    " "
    "  Unpadded size: $s\n     Extra memory due to padding: $s ($nx expansion)\n     XLA label: %$t = $d fusion($d "
    "%param), kind=kLoop\n     Allocation type: HLO temp\n     ==========================\n\n",
    "  $n. Size: $s\n     Operator: op_name=\"jit($t)/jit(main)/$t\" source_file=\"$t\" source_line=$n deduplicated_"
    "name=\"$t\"\n     Shape: ($d, $d, /*index=5*/$d)\n     Unpadded size: $s\n     XLA label: $t = tuple($t)\n     "
    "Allocation type: HLO temp\n     ==========================\n\n",
    "  $n. Size: $s\n",
    "     Operator: op_name=\"$t\"$u",
    "     Shape: $d$u",
    "     Unpadded size: $s$u",
    "     Extra memory due to padding: $s ($nx expansion)$u",
    "     XLA label: $t$u",
    "     Allocation type: $t$u",
    "     Tag: $t$u",
    "     ==========================\n",
    "| $n | $s | $t | $d |\n",
    "|---|---:|---|---|\n",
    "Allocator (GPU_0_bfc) ran out of memory trying to allocate $s (rounded to $n)requested by op $t\n",
    "BFCAllocator dump for GPU_0_bfc\nBin ($n): \tTotal Chunks: $n, Chunks in use: $n. $s allocated for chunks. $s in "
    "use in bin. $s client-requested in use in bin.\n",
    "InUse at 7f03b1$n of size $n next $n\nFree  at 7f03b1$n of size $n next $n\n",
    "$n Chunks of size $n totalling $s\nSum Total of in-use chunks: $s\ntotal_region_allocated_bytes_: $n "
    "memory_limit_: $n available bytes: $n curr_region_allocation_bytes_: $n\n",
    "Stats: \nLimit:                     $n\nInUse:                     $n\nMaxInUse:                  $n\nNumAllocs:  "
    "               $n\nMaxAllocSize:              $n\n",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate $s. GPU $n has a total capacity of $s of which $s "
    "is free. Of the allocated memory $s is allocated by PyTorch\n",
    "Out of memory: Killed process $n ($t) total-vm:$nkB, anon-rss:$nkB, file-rss:$nkB, shmem-rss:0kB\n",
    "Can't reduce memory use below $s ($n bytes) by rematerialization; only reduced to $s ($n bytes), down from $s "
    "($n bytes) originally\n",
    "XLA::TPU program HBM usage: $s / $s\nXLA::TPU program VMEM usage: $s / $s\n",
    "$t: CompiledMemoryStats(generated_code_size_in_bytes=$n, argument_size_in_bytes=$n, output_size_in_bytes=$n, "
    "alias_size_in_bytes=$n, temp_size_in_bytes=$n, host_generated_code_size_in_bytes=$n, "
    "host_argument_size_in_bytes=$n, host_output_size_in_bytes=$n, host_alias_size_in_bytes=$n, "
    "host_temp_size_in_bytes=$n)\n",
    "Total memory size: $s, Output size: $s, Temp size: $s, Argument size: $s, Host temp size: $s.\n",
    "Config param per_device_batch_size: $n\n",
    "INFO train: jax 0.8.0, mesh {'$t': $n} on TPU v5 lite\n",
    "Traceback (most recent call last):\n  File \"$t\", line $n, in $t\n    jax.jit(f).lower(*args).compile()\n    "
    "^^^^\n",
    "  File \"/home/user/train/main.py\", line $n, in <module>\n    $t\n",
    "The above exception was the direct cause of the following exception:\n\n",
    "Module: $t\nCompiling module jit_$t for TPU\n",
    "See https://openxla.org/xla/errors/error_1000 for more details.\n",
    "$t\n",
    "$t",
    "\n",
};

inline std::string MadeSize(Choices& choices) {
  constexpr std::array kFigures = {"20.25",
                                   "0",
                                   "1",
                                   "4.0",
                                   "531.00",
                                   "16",
                                   "15.75",
                                   "-1",
                                   "1,024.5",
                                   "1.",
                                   ".5",
                                   "1e5",
                                   "99999999999999999999",
                                   "9223372036854775807",
                                   "18446744073709551615",
                                   "0.00",
                                   "nan",
                                   "1.2.3",
                                   "",
                                   "00012",
                                   "8388608"};
  constexpr std::array kUnits = {"G", "M", "K",  "B",  "GiB", "GB",     " GiB", "MiB", "P", "E",
                                 "T", "",  "Gi", "iB", "KB",  " bytes", "g",    "Y",   "GG"};
  if (choices.OneIn(12)) return "unknown size";
  const std::string figure = choices.OneIn(4) ? std::to_string(choices.Number()) : choices.Of(kFigures);
  return figure + choices.Of(kUnits);
}

inline std::string MadeNumber(Choices& choices) {
  constexpr std::array kOdd = {"-1", "", "0x10", "1.5", "99999999999999999999999", "1,000", "12", "1e400", "32.0"};
  return choices.OneIn(4) ? choices.Of(kOdd) : std::to_string(choices.Number());
}

inline std::string MadeShape(Choices& choices) {
  constexpr std::array kTypes = {"f32", "bf16", "s32", "pred", "s4", "f8e4m3fn", "u8", "c128", "token", "x"};
  constexpr std::array kDimensions = {"1", "128", "8192", "0", "<=16", "2147483647", "9223372036854775807",
                                      "?", "3",   ""};
  constexpr std::array kLayouts = {
      "{1,0:T(8,128)}",   "{2,1,0:T(8,128)(2,1)}", "{0,1:T(8,128)S(1)}", "", "{:T(128)}", "{0}",
      "{3,2,1,0:T(8,128", "{1,0:T(0,0)}",          "{1,0:T(8)L(1024)}"};
  std::string shape = choices.Of(kTypes);
  shape += "[";
  const std::size_t count = choices.Below(6);
  for (std::size_t i = 0; i < count; ++i) shape += (i > 0 ? "," : "") + std::string(choices.Of(kDimensions));
  return shape + "]" + choices.Of(kLayouts);
}

inline std::string MadeText(Choices& choices) {
  constexpr std::array kTexts = {"fusion.3",
                                 "jit(train_step)/jit(main)/transpose(jvp(Layer))/dot_general",
                                 "/home/user/train/main.py",
                                 "HLO temp",
                                 "while/body/closed_call",
                                 "adam_step",
                                 "opt_state[0].mu['w']",
                                 "\x1b[31mred\x1b[0m",
                                 "</details></code><script>alert(1)</script>",
                                 "' onload=\"alert(2)\" & ]]> -->",
                                 "``` | ~~~ [x](javascript:alert(3)) # 1",
                                 "\xe2\x80\xae\xff\xef\xbf\xbf\xc2\x85\x7f",
                                 "::error title=x::y",
                                 "%0A::set-output name=a::b",
                                 "\r\b\v\f",
                                 "a\\\"b\\\\"};
  if (choices.OneIn(3)) return std::string(choices.Bytes(80));
  if (choices.OneIn(20)) return std::string(choices.Below(3000), 'w');
  return choices.Of(kTexts);
}

inline std::string FilledPart(std::string_view part, Choices& choices) {
  std::string text;
  for (std::size_t at = 0; at < part.size(); ++at) {
    if (part[at] != '$' || at + 1 == part.size()) {
      text += part[at];
      continue;
    }
    switch (part[++at]) {
      case 's':
        text += MadeSize(choices);
        break;
      case 'n':
        text += MadeNumber(choices);
        break;
      case 'd':
        text += MadeShape(choices);
        break;
      case 't':
        text += MadeText(choices);
        break;
      default:
        text += choices.OneIn(4) ? ' ' : '\n';
    }
  }
  return text;
}

// The messages of the rule data, and similar lines that are not failures.
inline const std::vector<std::string>& RuleExamples() {
  static const std::vector<std::string> examples = [] {
    std::vector<std::string> texts;
    const auto add = [&](const std::vector<Example>& some) {
      for (const Example& example : some) texts.push_back(example.text + "\n");
    };
    for (const FailureRule& rule : BuiltInRules().failures) {
      add(rule.samples.examples);
      add(rule.samples.counterexamples);
    }
    for (const Context& context : BuiltInRules().contexts) add(context.samples.examples);
    for (const LineRule* line : BuiltInRules().LinesOf({LineRule::Kind::kCandidate})) add(line->samples.examples);
    for (const Framework& framework : BuiltInRules().frameworks) add(framework.samples.examples);
    return texts;
  }();
  return examples;
}

// Prefixes of loggers and collectors; the first is empty.
inline const std::vector<std::string>& LinePrefixes() {
  static const std::vector<std::string> prefixes = [] {
    std::vector<std::string> texts = {""};
    for (const auto& [affix, example] : AffixExamples(BuiltInFiles())) {
      const std::string_view text = example.text;
      if (text.ends_with(example.leaves)) texts.emplace_back(text.substr(0, text.size() - example.leaves.size()));
    }
    return texts;
  }();
  return prefixes;
}

inline std::string WithPrefix(std::string_view text, std::string_view prefix) {
  std::string prefixed;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    prefixed.append(prefix).append(text.substr(at, end - at));
    at = end;
  }
  return prefixed;
}

// Puts the message in quotes or in a JSON record.
inline std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') {
      escaped += "\\n";
    } else {
      if (c == '"' || c == '\\') escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

inline std::string MadePart(Choices& choices) {
  std::string part = choices.OneIn(4) ? choices.Of(RuleExamples()) : FilledPart(choices.Of(kReportParts), choices);
  if (choices.OneIn(12)) part.resize(choices.Below(part.size() + 1));
  if (choices.OneIn(16)) part = "{\"message\": \"" + Escaped(part) + "\", \"worker\": " + MadeNumber(choices) + "}\n";
  if (choices.OneIn(16)) part = Escaped(part) + "\n";
  return part;
}

inline std::string MadeLog(Choices& choices) {
  constexpr std::size_t kMostParts = 30;
  std::string log;
  std::string prefix;
  for (std::size_t parts = 0; parts < kMostParts && !choices.empty(); ++parts) {
    if (choices.OneIn(10)) prefix = choices.Of(LinePrefixes());
    log += WithPrefix(MadePart(choices), prefix);
  }
  return log;
}

}  // namespace whyoom
