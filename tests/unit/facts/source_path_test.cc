// Source paths of users and libraries.
#include "catch.h"
#include "facts/evidence.h"

using namespace whyoom;

TEST_CASE("library paths are recognized", "[facts]") {
  for (const char* path :
       {"/opt/venv/lib/python3.11/site-packages/flax/linen/linear.py", "/usr/lib/python3/dist-packages/absl/app.py",
        "/usr/lib/python3.11/runpy.py", "/opt/conda/lib64/python3.9/threading.py", "<frozen runpy>", "<string>",
        "<stdin>", "<attrs generated init a>", "<decorator-gen-1>", "C:\\Python311\\Lib\\runpy.py",
        "C:\\venv\\Lib\\site-packages\\jax\\api.py", "/workspace/vllm/vllm/v1/engine/core.py",
        "/workspace/tpu_inference/run.py", "importlib/_bootstrap.py", "importlib._bootstrap",
        "numpy/random/_common.pyx"}) {
    INFO(path);
    CHECK(IsLibraryPath(path));
  }
  for (const char* path :
       {"/home/ada/train.py", "train.py", "/home/ada/lib/model.py", "/home/ada/lib/pythonic.py", "/app/python/model.py",
        "<ipython-input-3-ab>", "/app/src/MaxText/train.py", "/workspace/train.py", "/workspace/vllm2/x.py",
        "/home/workspace/vllm/x.py", "/a/importlib_x.py", "a.pyx.py", "/a/my-site-packages/x.py", ""}) {
    INFO(path);
    CHECK_FALSE(IsLibraryPath(path));
  }
}

TEST_CASE("a source line is shown with its file name or notebook cell", "[facts]") {
  CHECK(SourceLineText("/home/ada/train.py", 41) == "train.py:41");
  CHECK(SourceLineText("/home/ada/train.py", std::nullopt) == "train.py");
  CHECK(SourceLineText("Cell In[5]", 3) == "Cell In[5], line 3");
  CHECK(SourceLineText("Cell In [5]", 3) == "Cell In [5], line 3");
  CHECK(SourceLineText("<ipython-input-14-0f1e2d3c4b5a>", 3) == "Cell In[14], line 3");
  CHECK(SourceLineText("Cells.py", 3) == "Cells.py:3");
}

TEST_CASE("the last part of a path is its name", "[facts]") {
  CHECK(BaseName("/home/ada/a.py") == "a.py");
  CHECK(BaseName("C:\\x\\a.py") == "a.py");
  CHECK(BaseName("a.py") == "a.py");
  CHECK(BaseName("/home/ada/").empty());
}
