"""A function for the sink `lambda`: tags the EC2 instance that an event of gpuward-remediator speaks of, so that whoever
looks at the machine in AWS sees why it is out of service. The event's form is manifests/schemas/event.schema.json.

Its role needs ec2:CreateTags on the instances. It repairs nothing: the remediator does that, and waits for nobody here.
"""
import boto3

LONGEST_VALUE = 255  # of a tag


def handler(event, _context):
    if event["dry_run"] or not event["instance_id"].startswith("i-"):
        return {"statusCode": 200, "body": "nothing to do"}
    tags = {"GPUErrorType": event["error_type"], "GPUErrorTime": event["timestamp"],
            "GPUErrorDetails": f"{event['severity']}, {event['moment']}: {event['message']}"}
    boto3.client("ec2").create_tags(
        Resources=[event["instance_id"]],
        Tags=[{"Key": key, "Value": value[:LONGEST_VALUE]} for key, value in tags.items()])
    return {"statusCode": 200, "body": f"tagged {event['instance_id']}"}
