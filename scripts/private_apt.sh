# shellcheck shell=bash
# For scripts that download Debian's packages of other architectures: sourced by them.

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# Prints the mirror from which this machine installs its packages.
mirror() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' 'Component: main' | head -1
}

# Creates the configuration of a separate apt with its own lists and cache, and no installed packages.
private_apt() {
  local dir=$1 arch=$2 release=$3
  mkdir -p "$dir"/{lists/partial,archives/partial}
  : >"$dir/status"
  echo "deb [arch=$arch signed-by=$keyring] $(mirror) $release main" >"$dir/sources.list"
  cat >"$dir/apt.conf" <<EOF
Dir::State "$dir"; Dir::State::Lists "$dir/lists"; Dir::State::status "$dir/status";
Dir::Cache "$dir"; Dir::Cache::archives "$dir/archives";
Dir::Etc::sourcelist "$dir/sources.list"; Dir::Etc::sourceparts "/dev/null"; Dir::Etc::preferencesparts "/dev/null";
APT::Architecture "$arch"; APT::Architectures { "$arch"; };
APT::Sandbox::User ""; Acquire::Languages "none"; Acquire::Retries "3";
EOF
}
