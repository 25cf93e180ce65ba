// whyoom try: a script replaces Python, JAX and the compiler.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"
#include "process.h"

using nlohmann::json;
namespace fs = std::filesystem;

namespace TEST_FILE {

constexpr const char* kStem = "module_0000.jit_attn.cl_1003875606";
const std::string kDump = std::string(WHYOOM_SOURCE_DIR) + "/testdata/advice/head-65/dump";

// A dump of a program that needs too much, with the folder from which it can be compiled again, and a script that
// compiles it: 20 GiB unchanged, 15 GiB with PEAK_PRIORITY, 30 GiB with a block size limit, 15 and then another 10 GiB
// with dot_dot_fusion, an error with rwb_fusion, no result with scheduler_rerun, and endless with list scheduling.
struct Lab {
  Lab() {
    fs::copy(kDump, folder.path() + "/dump");
    folder.Write("dump/" + std::string(kStem) + "/module.mlir", "module @jit_attn {}\n");
    for (const char* name : {"compile_options.textproto", "topology.textproto"})
      folder.Write("dump/" + std::string(kStem) + "/" + name, "");
    folder.Write("description.json", R"({"compiler": "libtpu 9.8.7", "versions": "1", "mesh": {}, "results": [],
        "arguments": [{"name": "x", "dtype": "f32", "dims": [8], "donated": false, "splits": null}]})");
    const std::string script = folder.Write("python", R"(#!/bin/sh
case "$1" in *recompile.py) ;; *) exec python3 "$@" ;; esac
here=)" + folder.path() + R"(
folder=$(dirname "$2")
echo run >> "$here/runs"
env > "$here/environment"
has() { grep -q -- "$1" "$2"; }
if has '"describe": true' "$2"; then cp "$here/description.json" "$folder/result.json"; exit; fi
gib=20
if has PEAK_PRIORITY "$2" || has dot_dot_fusion "$2"; then gib=15; fi
if has block_size_limit "$2"; then gib=30; fi
if has rwb_fusion "$2"; then printf '%s' '{"error": "INVALID_ARGUMENT: no such option\nmore"}' > "$folder/result.json"; exit; fi
if has scheduler_rerun "$2"; then echo 'Fatal: a check failed' >&2; exit 3; fi
if has '"xla_memory_scheduler": "list"' "$2"; then sleep 1000; fi
bytes=$((gib << 30))
stem="$folder/dump/)" + kStem + R"(.after_optimizations"
allocate() {
  echo "allocation $1: size $2, page 0, preallocated-temp:"
  echo " value: <$1 fusion @0> (size=$2,offset=0): f32[$(($2 / 4))]{0:T(1024)}"
}
echo > "$stem.txt"
{ echo BufferAssignment:; allocate 0 $bytes; } > "$stem-buffer-assignment.txt"
if has dot_dot_fusion "$2"; then
  printf 'Memory Space: default (color=0)\nTotal bytes: 26843545600 (25.00GiB)\n' > "$stem-memory-usage-report.txt"
  sleep 0.5
  allocate 1 10737418240 >> "$stem-buffer-assignment.txt"
else
  printf "Memory Space: default (color=0)\nTotal bytes: $bytes (N GiB)\n" > "$stem-memory-usage-report.txt"
fi
if [ $gib -gt 15 ] || has dot_dot_fusion "$2"; then  # the compile fails; one that fits goes on
  echo > "${stem%.after_optimizations}.oom_intermediate_module.txt"
  printf '%s' '{"fits": false, "error": "RESOURCE_EXHAUSTED: E1000"}' > "$folder/result.json"
  exit
fi
sleep 1000
)");
    fs::permissions(script, fs::perms::owner_all);
  }

  ProcessResult Try(std::vector<std::string> options) const {
    const std::vector<std::string> usual = {"try", folder.path() + "/dump", "--python", folder.path() + "/python"};
    options.insert(options.begin(), usual.begin(), usual.end());
    return RunWhyoom(options, "", ".", {"XDG_CACHE_HOME=" + folder.path() + "/cache", "SECRET_TOKEN=hidden"});
  }

  std::size_t runs() const {
    const std::string text = ReadText(folder.path() + "/runs");
    return std::count(text.begin(), text.end(), '\n');
  }

  const ScratchFolder folder;
};

const json& AttemptWith(const json& recompilation, const std::string& setting) {
  for (const json& attempt : recompilation["attempts"]) {
    if (attempt["setting"].get<std::string>().find(setting) != std::string::npos) return attempt;
  }
  FAIL("no attempt with " << setting);
  return recompilation;
}

TEST_CASE("what the compiler reports replaces the estimate and decides the order", "[cli][try]") {
  const Lab lab;
  const ProcessResult result = lab.Try({"--format", "json", "--attempt-time", "2", "-j", "4", "--remedy",
                                        "xla_flags_remat=--xla_tpu_rematerialization_algo=PEAK_PRIORITY,"
                                        "xla_flags_remat=--xla_tpu_rematerialization_max_block_size_limit=32,"
                                        "xla_flags_memory=--xla_latency_hiding_scheduler_rerun=5,"
                                        "xla_flags_memory=--xla_tpu_rwb_fusion=false"});
  INFO(result.err);
  CHECK(result.exit_status == 0);  // something fits
  const json failure = json::parse(result.out)["diagnoses"][0];
  const json& compiled = failure["recompilation"];
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  CHECK(compiled["compiler"] == "libtpu 9.8.7");
  CHECK(compiled["unchanged_bytes"] == 20 * kGiB);
  CHECK(AttemptWith(compiled, "PEAK_PRIORITY")["need_bytes"] == 15 * kGiB);
  CHECK(AttemptWith(compiled, "block_size_limit")["need_bytes"] == 30 * kGiB);
  CHECK(AttemptWith(compiled, "rwb_fusion")["problem"] == "INVALID_ARGUMENT: no such option");
  CHECK(AttemptWith(compiled, "rerun")["problem"] == "Fatal: a check failed (exit status 3)");
  const json& first = failure["remedies"][0];
  CHECK(first["id"] == "xla_flags_remat");
  CHECK(first["basis"] == "compiled");
  CHECK(first["enough"] == true);
  CHECK(first["saves_bytes"] == 5 * kGiB);
  // The dump states 20.26 GiB, so another compiler wrote it: the results are corrected by the difference.
  const std::int64_t stated = failure["facts"]["need_bytes"];
  CHECK(first["left_bytes"] == stated - 5 * kGiB);
  CHECK(first["spread_bytes"] == stated - 20 * kGiB);
  CHECK(first["compiled"]["setting"] == "LIBTPU_INIT_ARGS=--xla_tpu_rematerialization_algo=PEAK_PRIORITY");
}

TEST_CASE("the report shows what to type, and all attempts", "[cli][try]") {
  const Lab lab;
  const ProcessResult result = lab.Try({"--remedy", "xla_flags_remat"});
  INFO(result.out);
  CHECK(result.exit_status == 0);
  CHECK(result.out.find("Compiled with libtpu 9.8.7, without a TPU") != std::string::npos);
  CHECK(result.out.find("→ type:\n") != std::string::npos);
  CHECK(result.out.find(" LIBTPU_INIT_ARGS=--xla_tpu_rematerialization_algo=PEAK_PRIORITY python train.py\n") !=
        std::string::npos);
  CHECK(result.out.find("30.00 GiB  worse  --xla_tpu_rematerialization_max_block_size_limit=32\n") !=
        std::string::npos);
}

TEST_CASE("nothing fits: the exit status is 1", "[cli][try]") {
  CHECK(Lab().Try({"--remedy", "xla_flags_remat=--xla_tpu_rematerialization_max_block_size_limit=32"}).exit_status ==
        1);
}

TEST_CASE("a buffer assignment counts when its allocations add up to the total that the compiler reports",
          "[cli][try]") {
  const ProcessResult result =
      Lab().Try({"--remedy", "xla_flags_memory=--xla_tpu_dot_dot_fusion=true", "--format", "json"});
  const json compiled = json::parse(result.out)["diagnoses"][0]["recompilation"];
  CHECK(AttemptWith(compiled, "dot_dot_fusion")["need_bytes"] == std::int64_t{25} << 30);
}

TEST_CASE("a compile is not repeated, unless --no-cache is given", "[cli][try]") {
  const Lab lab;
  const std::vector<std::string> one = {"--remedy", "xla_flags_remat=--xla_tpu_rematerialization_algo=PEAK_PRIORITY",
                                        "--format", "json"};
  const ProcessResult first = lab.Try(one);
  CHECK(lab.runs() == 3);  // described, unchanged, changed
  const ProcessResult again = lab.Try(one);
  CHECK(lab.runs() == 4);  // described
  CHECK(json::parse(again.out)["diagnoses"][0]["recompilation"] ==
        json::parse(first.out)["diagnoses"][0]["recompilation"]);
  lab.folder.Write("dump/" + std::string(kStem) + "/module.mlir", "module @jit_attn { another }\n");
  lab.Try(one);
  CHECK(lab.runs() == 7);
  lab.Try({"--remedy", "xla_flags_remat=--xla_tpu_rematerialization_algo=PEAK_PRIORITY", "--no-cache"});
  CHECK(lab.runs() == 10);
}

TEST_CASE("the compile has no secrets in its environment, and leaves no files", "[cli][try]") {
  const Lab lab;
  const std::string temporary = lab.folder.path() + "/tmp";
  fs::create_directory(temporary);
  RunWhyoom({"try", lab.folder.path() + "/dump", "--python", lab.folder.path() + "/python", "--remedy",
             "xla_flags_remat", "--no-cache"},
            "", ".", {"SECRET_TOKEN=hidden", "TMPDIR=" + temporary});
  const std::string environment = ReadText(lab.folder.path() + "/environment");
  CHECK(environment.find("hidden") == std::string::npos);
  CHECK(environment.find("TPU_LOG_DIR=" + temporary + "/whyoom-try-") != std::string::npos);
  CHECK(fs::is_empty(temporary));
}

// An empty element of PYTHONPATH is the current folder, which may contain a stranger's sitecustomize.py.
TEST_CASE("the compile imports nothing from the current folder", "[cli][try]") {
  const Lab lab;
  const std::string mine = lab.folder.path();
  const std::string path = lab.folder.path() + "/dump";
  for (const std::string& paths :
       {":" + mine, mine + ":", mine + "::", ".:" + mine, "lib:" + mine, path + ":" + mine}) {
    RunWhyoom({"try", path, "--python", lab.folder.path() + "/python", "--remedy", "xla_flags_remat", "--no-cache"}, "",
              path, {"PYTHONPATH=" + paths});
    CHECK(ReadText(lab.folder.path() + "/environment").find("\nPYTHONPATH=" + mine + "\n") != std::string::npos);
  }
}

TEST_CASE("a temporary folder without space is named", "[cli][try]") {
  const Lab lab;
  const ProcessResult result =
      RunProcess({"/bin/sh", "-c", "ulimit -f 8; exec \"$0\" try \"$1\"", WHYOOM_BINARY, lab.folder.path() + "/dump"});
  CHECK(result.exit_status == 2);
  CHECK(result.err.find(".py: File too large (set TMPDIR to a folder with more space)") != std::string::npos);
}

TEST_CASE("an interrupt ends the attempts, and those that were made are reported", "[cli][try]") {
  const Lab lab;
  const ProcessResult result = RunAndSignal(
      {WHYOOM_BINARY, "try", lab.folder.path() + "/dump", "--python", lab.folder.path() + "/python", "--no-cache", "-j",
       "1", "--format", "json", "--remedy",
       "xla_flags_remat=--xla_tpu_rematerialization_algo=PEAK_PRIORITY,xla_flags_memory=--xla_memory_scheduler=list"},
      "", ".", SIGINT, std::chrono::seconds(10));
  const json compiled = json::parse(result.out)["diagnoses"][0]["recompilation"];
  CHECK(AttemptWith(compiled, "PEAK_PRIORITY").contains("need_bytes"));
  CHECK(compiled["stopped"] == "interrupted");
  CHECK(result.exit_status == 128 + SIGINT);
}

TEST_CASE("what is missing is named", "[cli][try]") {
  const Lab lab;
  const auto error_of = [&](const std::string& python) {
    const ProcessResult result = RunWhyoom({"try", lab.folder.path() + "/dump", "--python", python});
    CHECK(result.exit_status == 2);
    return result.err;
  };
  CHECK(error_of("/no/such/python") ==
        "cannot run /no/such/python: No such file or directory\nwhyoom: cannot try remedies: /no/such/python: exit "
        "status 127 (Python 3.9 or newer is needed)\n");
  lab.folder.Write("description.json", R"({"error": "jax is not installed", "missing": true})");
  CHECK(error_of(lab.folder.path() + "/python").find("jax is not installed (install it with: ") != std::string::npos);
  fs::remove_all(lab.folder.path() + "/dump/" + kStem);
  CHECK(error_of("python3").find("the dump contains no module.mlir") != std::string::npos);
  const ProcessResult none = RunWhyoom({"try", lab.folder.path()});
  CHECK(none.exit_status == 2);
}

TEST_CASE("run --try compiles the remedies after a failure, and reports them with it", "[cli][try]") {
  const Lab lab;
  const std::string dump = lab.folder.path() + "/dump";
  const std::string job = "cp -r " + dump + "/* \"${XLA_FLAGS#--xla_dump_to=}\"; cat " + kDump + "/../log >&2; exit 1";
  const std::string report = lab.folder.path() + "/report.json";
  const ProcessResult result =
      RunWhyoom({"run", "--try", "--python", lab.folder.path() + "/python", "--remedy", "xla_flags_remat", "--format",
                 "json", "--output", report, "--", "/bin/sh", "-c", job},
                "", ".", {"XLA_FLAGS=", "XDG_CACHE_HOME=" + lab.folder.path() + "/cache"});
  CHECK(result.exit_status == 1);  // the job's
  const json failure = json::parse(ReadText(report))["diagnoses"][0];
  CHECK(failure["code"] == "E1000");
  CHECK(failure["remedies"][0]["basis"] == "compiled");
  CHECK(failure["recompilation"]["attempts"].size() >= 3);
}

// Stands in for MaxText's train_compile: needs 4 GiB, 2 GiB for each sequence, and 3 GiB less with remat_policy=full.
// It fits its own chip, so that only --hbm makes it fail.
struct Trainer {
  Trainer() {
    folder.Write("maxtext", R"(batch=0
saved=0
for word; do
  case $word in
    per_device_batch_size=*) batch=${word#*=} ;;
    remat_policy=full) saved=3 ;;
  esac
done
case $* in *per_device_batch_size=7*) name=jit_init ;; *) name=jit_train_step ;; esac
for flag in $XLA_FLAGS; do dump=${flag#--xla_dump_to=}; done
bytes=$((4 + 2 * batch - saved << 30))
echo "$*" >> )" + folder.path() +
                                R"(/runs
stem="$dump/module_0007.$name.cl_1"
{
  echo BufferAssignment:
  echo "allocation 0: size $bytes, page 0, preallocated-temp:"
  echo " value: <1 fusion @0> (size=$bytes,offset=0): f32[$((bytes / 4))]{0:T(1024)}"
} > "$stem.after_optimizations-buffer-assignment.txt"
echo > "$stem.after_optimizations.txt"
case $name in jit_init) echo 'ValueError: no such batch' >&2; exit 1 ;; esac
)");
  }

  ProcessResult Try(std::vector<std::string> options, const std::string& topology = "compile_topology=v5e-4") const {
    options.insert(options.begin(), {"try", "--hbm", "15.75G"});
    for (const std::string& word : {std::string("--"), std::string("sh"), folder.path() + "/maxtext",
                                    std::string("train_compile"), topology, std::string("per_device_batch_size=8")})
      options.push_back(word);
    return RunWhyoom(options);
  }

  const ScratchFolder folder;
};

TEST_CASE("try runs a command with other settings, and finds the largest batch that fits", "[cli][try]") {
  const Trainer trainer;
  const ProcessResult result = trainer.Try({"--format", "json"});
  INFO(result.err);
  CHECK(result.exit_status == 0);
  const json failure = json::parse(result.out)["diagnoses"][0];
  const json& compiled = failure["recompilation"];
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  CHECK(compiled["unchanged_bytes"] == 20 * kGiB);
  CHECK(AttemptWith(compiled, "remat_policy=full")["need_bytes"] == 17 * kGiB);
  CHECK(AttemptWith(compiled, "per_device_batch_size=4 gradient_accumulation_steps=2")["need_bytes"] == 12 * kGiB);
  // 4 + 2 * 5 = 14 GiB fit, 4 + 2 * 6 do not.
  for (const json& remedy : failure["remedies"]) {
    if (remedy["id"] != "reduce_batch") continue;
    CHECK(remedy["compiled"]["setting"] == "per_device_batch_size=5");
    CHECK(remedy["left_bytes"] == 14 * kGiB);
  }
  CHECK(AttemptWith(compiled, "per_device_batch_size=6")["need_bytes"] == 16 * kGiB);
  CHECK(failure["remedies"][0]["enough"] == true);
  CHECK(failure["remedies"][0]["basis"] == "compiled");
}

TEST_CASE("pairs of settings are tried if none fits alone, and one that fits is the first remedy", "[cli][try]") {
  const Trainer trainer;
  const ProcessResult result =
      trainer.Try({"--remedy", "jax_checkpoint=remat_policy=full,reduce_batch=per_device_batch_size=6"});
  INFO(result.out);
  CHECK(result.exit_status == 0);                               // 17 and 16 GiB alone, 13 GiB together
  CHECK(result.out.find("/whyoom-try-") == std::string::npos);  // the folder is gone
  CHECK(result.out.find("→ add to the command: per_device_batch_size=6 remat_policy=full") != std::string::npos);
  CHECK(result.out.find("13.00 GiB  yes   per_device_batch_size=6 remat_policy=full") != std::string::npos);
}

TEST_CASE("an interrupt ends the command and what it started, and is reported", "[cli][try]") {
  const ScratchFolder folder;
  folder.Write("maxtext", "echo $$ > " + folder.path() + "/pid; exec sleep 1000");
  const ProcessResult result =
      RunAndSignal({WHYOOM_BINARY, "try", "--", "sh", "-c", "setsid sh " + folder.path() + "/maxtext; true",
                    "maxtext/train_compile", "compile_topology=v5e-4"},
                   "", ".", SIGINT, std::chrono::milliseconds(1500));
  CHECK(result.exit_status == 128 + SIGINT);
  CHECK(result.err == "whyoom: interrupted before anything was compiled\n");
  const std::string process = "/proc/" + std::to_string(std::stoi(ReadText(folder.path() + "/pid")));
  for (int i = 0; i < 100 && fs::exists(process); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_FALSE(fs::exists(process));
}

TEST_CASE("an attempt that compiles only another program has failed", "[cli][try]") {
  const ProcessResult result = Trainer().Try({"--remedy", "reduce_batch=per_device_batch_size=7", "--format", "json"});
  CHECK(result.exit_status == 1);
  const json compiled = json::parse(result.out)["diagnoses"][0]["recompilation"];
  CHECK(AttemptWith(compiled, "size=7")["problem"] == "ValueError: no such batch (exit status 1)");
  CHECK_FALSE(AttemptWith(compiled, "size=7").contains("need_bytes"));
}

TEST_CASE("a command that shows no function and has no settings is refused", "[cli][try]") {
  const ProcessResult result = Trainer().Try({}, "steps=10");
  CHECK(result.exit_status == 2);
  CHECK(result.out.find("E1000") == 0);  // the failure itself is reported
  CHECK((result.out + result.err).find("cannot try remedies") != std::string::npos);
}

TEST_CASE("wrong remedies are reported before anything runs", "[cli][try]") {
  const Trainer trainer;
  const ProcessResult unknown = trainer.Try({"--remedy", "donate_bufers"});
  CHECK(unknown.exit_status == 2);
  CHECK(unknown.err.find("donate_buffers") != std::string::npos);
  CHECK_FALSE(fs::exists(trainer.folder.path() + "/runs"));
  const ProcessResult run =
      RunWhyoom({"run", "--try", "--remedy", "nonsense", "--", "touch", trainer.folder.path() + "/runs"});
  CHECK(run.exit_status == 2);
  CHECK_FALSE(fs::exists(trainer.folder.path() + "/runs"));
  const ProcessResult alone = RunWhyoom({"run", "--remedy", "donate_buffers", "--", "true"});
  CHECK(alone.exit_status == 2);
  CHECK(alone.err.find("--remedy requires --try") != std::string::npos);
}

}  // namespace TEST_FILE
