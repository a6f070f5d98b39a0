// dra-driver KUBECONFIG NODE MINOR=UUID...: offers GPUs of this machine through ResourceSlices and hands them out to
// ResourceClaims, with the names that NVIDIA's DRA driver gives them. It makes no CDI files: containerd knows CDI from 1.7
// on. Runs until SIGTERM.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	resource "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/dynamic-resource-allocation/kubeletplugin"
	"k8s.io/dynamic-resource-allocation/resourceslice"
)

const name = "gpu.nvidia.com"

type driver struct{}

// The devices of a claim that are this driver's; there is nothing to prepare.
func (driver) PrepareResourceClaims(_ context.Context, claims []*resource.ResourceClaim) (map[types.UID]kubeletplugin.PrepareResult, error) {
	results := map[types.UID]kubeletplugin.PrepareResult{}
	for _, claim := range claims {
		var devices []kubeletplugin.Device
		for _, allocated := range claim.Status.Allocation.Devices.Results {
			if allocated.Driver == name {
				devices = append(devices, kubeletplugin.Device{
					Requests: []string{allocated.Request}, PoolName: allocated.Pool, DeviceName: allocated.Device,
				})
			}
		}
		results[claim.UID] = kubeletplugin.PrepareResult{Devices: devices}
	}
	return results, nil
}

func (driver) UnprepareResourceClaims(_ context.Context, claims []kubeletplugin.NamespacedObject) (map[types.UID]error, error) {
	results := map[types.UID]error{}
	for _, claim := range claims {
		results[claim.UID] = nil
	}
	return results, nil
}

func (driver) HandleError(_ context.Context, err error, message string) {
	log.Printf("%s: %v", message, err)
}

// All devices are healthy, which needs no report.
func (driver) WatchHealthStatus(context.Context, chan<- kubeletplugin.DeviceHealthReport) error {
	return kubeletplugin.ErrHealthNotSupported
}

func device(minor, uuid string) resource.Device {
	kind := "gpu"
	return resource.Device{
		Name: "gpu-" + minor,
		Attributes: map[resource.QualifiedName]resource.DeviceAttribute{
			"type": {StringValue: &kind},
			"uuid": {StringValue: &uuid},
		},
	}
}

func run(kubeconfig, node string, gpus []string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(kubeletplugin.KubeletPluginsDir, name), 0o750); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	helper, err := kubeletplugin.Start(ctx, driver{}, kubeletplugin.DriverName(name), kubeletplugin.KubeClient(client),
		kubeletplugin.NodeName(node))
	if err != nil {
		return err
	}
	var devices []resource.Device
	for _, gpu := range gpus {
		minor, uuid, _ := strings.Cut(gpu, "=")
		devices = append(devices, device(minor, uuid))
	}
	// Its sockets go with it: by that the kubelet sees that it has ended.
	defer helper.Stop()
	if err := helper.PublishResources(ctx, resourceslice.DriverResources{
		Pools: map[string]resourceslice.Pool{node: {Slices: []resourceslice.Slice{{Devices: devices}}}},
	}); err != nil {
		return err
	}
	log.Printf("offers %d of %s", len(gpus), name)
	<-ctx.Done()
	return nil
}

func main() {
	if len(os.Args) < 4 {
		log.Fatal("usage: dra-driver KUBECONFIG NODE MINOR=UUID...")
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		log.Fatal(err)
	}
}
