# The formula for Homebrew. sha256 is that of the release's archive and is filled in when there is one.
class W2vcl < Formula
  desc "Word vectors from your text: large-batch (W2V-CL) and sequential word2vec"
  homepage "https://github.com/w2vcl/w2vcl"
  url "https://github.com/w2vcl/w2vcl/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"
  head "https://github.com/w2vcl/w2vcl.git", branch: "main"

  depends_on "go" => :build

  def install
    ENV["CGO_ENABLED"] = "0"
    system "go", "build", *std_go_args, "./cmd/w2vcl"
    system ".ci/packaging/licenses.sh", "THIRD-PARTY-LICENSES.txt"
    doc.install "README.md", "CHANGELOG.md", "THIRD-PARTY-LICENSES.txt"
    generate_completions_from_executable(bin/"w2vcl", shell_parameter_format: :cobra)
  end

  test do
    (testpath/"text.txt").write("the cat sat on the mat and the dog sat on the mat with the cat\n" * 20)
    system bin/"w2vcl", "train", "text.txt", "--out", "run", "--dim", "10", "--negative", "2", "--iterations", "20"
    assert_match "cat", shell_output("#{bin}/w2vcl neighbors run mat")
  end
end
